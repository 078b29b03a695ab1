import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { UnreadAnswers } from './unreadAnswers.ts'

/** Serves a request. `shed`: it was refused because of load. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<'served' | 'shed'>

// Node parses all requests of a packet at once, and each takes about 5 kB. Browsers and SDKs do not pipeline.
const waitingMax = 16
// As long as Retry-After. A client that waits that long notices nothing; one that does not is slowed down without any work.
const restMs = 1_000
// The rest of a refused body is dropped during this time, so that the client can read its answer.
const lingerMs = 2_000

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface Turns {
  isTaken: boolean
  readonly waiting: Exchange[]
}

export interface TurnDeps {
  readonly serve: Handler
  readonly unread: UnreadAnswers
  /** Whether a connection rests after a refusal. Not behind a proxy, whose connections carry many clients. */
  readonly rests: boolean
}

/**
 * Answers the requests of a connection one after the other. The next one starts when the answer before it has been read by the
 * client's side, so a client that does not read holds one answer, whatever it asks for.
 */
export function inTurn({
  serve,
  unread,
  rests,
}: TurnDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const turnsOf = new WeakMap<Socket, Turns>()

  const start = (turns: Turns, { request, response }: Exchange): void => {
    const { socket } = request
    turns.isTaken = true
    let outcome: 'served' | 'shed' = 'served'
    response.once('close', () => {
      if (socket.destroyed) return
      if (!request.complete) linger(request)
      if (rests && outcome === 'shed') setTimeout(next, restMs, turns, socket).unref()
      else next(turns, socket)
    })
    void serve(request, response).then((served) => {
      outcome = served
      if (!response.writableFinished && !socket.destroyed) unread.follow(response)
    })
  }

  const next = (turns: Turns, socket: Socket): void => {
    turns.isTaken = false
    const exchange = turns.waiting.shift()
    if (exchange === undefined || socket.destroyed) return
    socket.setTimeout(0)
    start(turns, exchange)
  }

  return (request, response) => {
    const { socket } = request
    const turns = turnsOf.get(socket) ?? { isTaken: false, waiting: [] }
    turnsOf.set(socket, turns)
    if (!turns.isTaken) start(turns, { request, response })
    else if (turns.waiting.length < waitingMax) turns.waiting.push({ request, response })
    else socket.destroy()
  }
}

function linger(request: IncomingMessage): void {
  const { socket } = request
  request.resume()
  setTimeout(() => {
    if (!request.complete) socket.destroy()
  }, lingerMs).unref()
}
