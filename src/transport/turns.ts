import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { UnreadAnswers } from './unreadAnswers.ts'

/** Serves a request. `shed`: it was refused because of load. `spentForSeconds`: because of the load that its address causes. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<TurnResult>

export type TurnResult = 'served' | 'shed' | { readonly spentForSeconds: number }

// Node parses all requests of a packet at once: 64 kB of pipelined requests cost 150 ms and 7 MB. A piece holds about 25 of them.
const pieceBytes = 1_024
// While a body of unknown length arrives: it is often large, and each piece costs a call of the parser.
const bodyPieceBytes = 8_192
const shedRestMs = 1_000
const msPerSecond = 1_000
// The rest of a refused body is dropped during this time, so that the client can read its answer.
const lingerMs = 2_000

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** State of one connection. */
interface Turns {
  /** The exchange in progress, and while the connection rests the last one. */
  current: Exchange | undefined
  /** Requests of the same piece. */
  readonly waiting: Exchange[]
  /** Received and not parsed yet. */
  unparsed: Buffer
  /** Bytes of the current request's body that have not been parsed; NaN when it has no length. */
  bodyBytes: number
  /** The bytes after the waiting requests could not be parsed: answers that. */
  refuseRest: (() => void) | undefined
}

export interface TurnDeps {
  readonly serve: Handler
  readonly unread: UnreadAnswers
  /** Whether a connection rests after a refusal. Not behind a proxy, whose connections carry many clients. */
  readonly rests: boolean
}

export interface ConnectionTurns {
  onConnection(socket: Socket): void
  onRequest(request: IncomingMessage, response: ServerResponse): void
  /** Calls back when the requests that have arrived whole are answered. Nothing else of the connection is parsed. */
  whenAnswered(socket: Socket, refuseRest: () => void): void
}

/**
 * Answers the requests of a connection one after the other. The next one is parsed when the answer before it has been taken over by
 * the operating system, so a client that pipelines or does not read holds one answer, and its other requests wait in its own buffers.
 */
export function createTurns({ serve, unread, rests }: TurnDeps): ConnectionTurns {
  const turnsOf = new WeakMap<Socket, Turns>()

  const start = (turns: Turns, exchange: Exchange): void => {
    turns.current = exchange
    turns.bodyBytes = Number(exchange.request.headers['content-length'])
    void finish(turns, exchange)
  }

  const finish = async (turns: Turns, { request, response }: Exchange): Promise<void> => {
    const { socket } = request
    const closed = new Promise((resolve) => response.once('close', resolve))
    const result = await serve(request, response)
    if (!response.writableFinished && !socket.destroyed) unread.follow(response)
    await closed
    if (socket.destroyed) return
    if (!request.complete) linger(request, result)
    // The rest of its body is not to be parsed, so the connection has no further request.
    if (!request.complete && request.isPaused()) return
    const restMs = rests ? restMsAfter(result) : 0
    if (restMs > 0) setTimeout(next, restMs, turns, socket).unref()
    // Pipelined requests let the event loop turn, or a thousand of them would keep every other connection waiting.
    else if (turns.waiting.length > 0 || turns.unparsed.length > 0) setImmediate(next, turns, socket)
    else next(turns, socket)
  }

  const next = (turns: Turns, socket: Socket): void => {
    turns.current = undefined
    const exchange = turns.waiting.shift()
    if (socket.destroyed) return
    const { refuseRest } = turns
    if (refuseRest !== undefined && exchange?.request.complete !== true) return refuseRest()
    if (exchange === undefined) {
      socket.resume()
      return
    }
    socket.setTimeout(0)
    start(turns, exchange)
  }

  return {
    onConnection(socket) {
      const turns: Turns = { current: undefined, waiting: [], unparsed: nothing, bodyBytes: 0, refuseRest: undefined }
      turnsOf.set(socket, turns)
      parseInPieces(socket, turns)
    },
    onRequest(request, response) {
      const turns = assertPresent(turnsOf.get(request.socket), 'a request comes on a connection')
      if (turns.current === undefined) start(turns, { request, response })
      else turns.waiting.push({ request, response })
    },
    whenAnswered(socket, refuseRest) {
      const turns = assertPresent(turnsOf.get(socket), 'an error of the parser comes on a connection')
      if (turns.current?.request.complete !== true) return refuseRest()
      turns.refuseRest = refuseRest
      turns.unparsed = nothing
    },
  }
}

/** The rest is as long as Retry-After. A client that waits that long notices nothing; one that does not is slowed down at no cost. */
function restMsAfter(result: TurnResult): number {
  if (typeof result === 'object') return result.spentForSeconds * msPerSecond
  return result === 'shed' ? shedRestMs : 0
}

const nothing = Buffer.alloc(0)

/** Hands over bytes to Node's parser until a request is complete, and the rest after its answer. */
function parseInPieces(socket: Socket, turns: Turns): void {
  const [parse] = socket.listeners('data')
  assert(parse !== undefined, 'Node parses what a connection receives')
  const advance = (): void => {
    while (turns.unparsed.length > 0 && !socket.destroyed && !socket.writableEnded) {
      // Node pauses a connection whose body or answer is not read.
      const request = turns.current?.request
      if (request?.complete === true || request?.isPaused() === true || isHeldUp(socket)) {
        socket.pause()
        return
      }
      const piece = turns.unparsed.subarray(0, pieceBytesOf(turns))
      turns.unparsed = turns.unparsed.subarray(piece.length)
      turns.bodyBytes -= piece.length
      Reflect.apply(parse, socket, [piece])
    }
  }
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    turns.unparsed = turns.unparsed.length === 0 ? chunk : Buffer.concat([turns.unparsed, chunk])
    advance()
  })
  socket.on('resume', advance)
}

function isHeldUp(socket: Socket): boolean {
  return socket.isPaused() || socket.writableNeedDrain
}

/** A body that is known to be long is one piece, which ends with the body or in the first piece after it. */
function pieceBytesOf({ current, bodyBytes }: Turns): number {
  if (current === undefined) return pieceBytes
  return Number.isNaN(bodyBytes) ? bodyPieceBytes : Math.max(pieceBytes, bodyBytes)
}

function linger(request: IncomingMessage, result: TurnResult): void {
  const { socket } = request
  if (typeof result === 'string' && !request.isPaused()) request.resume()
  setTimeout(() => {
    if (!request.complete) socket.destroy()
  }, lingerMs).unref()
}
