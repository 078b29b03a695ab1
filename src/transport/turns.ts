import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { UnreadAnswers } from './unreadAnswers.ts'

/**
 * `shed`: the request was refused because of load or a rate limit. `spentForSeconds`: the client address itself causes
 * too much load, and should send nothing for this time.
 */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<TurnResult>

export type TurnResult = 'served' | 'shed' | { readonly spentForSeconds: number }

// Size of a piece, which contains about 25 requests. Packets are split, because Node parses all requests of a packet at
// once, which could block the event loop.
const pieceBytes = 1_024
// Piece size of a body of unknown length. It is larger, because such a body is often large, and each piece causes a
// call of the parser.
const bodyPieceBytes = 8_192
const shedRestMs = 1_000
const msPerSecond = 1_000
// The rest of a refused body is dropped for this long, so that the client can read its answer.
const lingerMs = 2_000

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface Turns {
  /** The exchange in progress, or the last one while the connection rests. Undefined: the next request starts at once. */
  current: Exchange | undefined
  /** Requests from the same piece that wait for the current one. */
  readonly waiting: Exchange[]
  unparsed: Buffer
  /** Bytes of the current request's body that are not parsed yet. NaN if its length is unknown. */
  bodyBytes: number
  /** Called after all waiting requests are answered. Undefined: no parser error has occurred. */
  refuseRest: (() => void) | undefined
}

export interface TurnDeps {
  readonly serve: Handler
  readonly unread: UnreadAnswers
  /** A connection rests after a refusal, but not behind a proxy, because a proxy's connections serve many clients. */
  readonly rests: boolean
}

/**
 * Serves the requests of a connection one after another. A request starts when the operating system has taken the
 * answer to the previous one. If a client pipelines or does not read, the service holds one answer. Later requests of
 * the same piece wait parsed, and all others wait in the buffers of the connection.
 */
export function createTurns({ serve, unread, rests }: TurnDeps) {
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
    // The rest of the body must not be parsed, so no further request can follow on this connection.
    if (!request.complete && request.isPaused()) return
    const restMs = rests ? restMsAfter(result) : 0
    if (restMs > 0) setTimeout(next, restMs, turns, socket).unref()
    // A thousand pipelined requests without a turn of the event loop would block every other connection.
    else if (turns.waiting.length > 0 || turns.unparsed.length > 0) setImmediate(next, turns, socket)
    else next(turns, socket)
  }

  const next = (turns: Turns, socket: Socket): void => {
    turns.current = undefined
    const exchange = turns.waiting.shift()
    // After `Connection: close`, the caller could not receive another answer.
    if (socket.destroyed || socket.writableEnded) return
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
    onConnection(socket: Socket): void {
      const turns: Turns = { current: undefined, waiting: [], unparsed: nothing, bodyBytes: 0, refuseRest: undefined }
      turnsOf.set(socket, turns)
      parseInPieces(socket, turns)
    },
    onRequest(request: IncomingMessage, response: ServerResponse): void {
      const turns = assertPresent(turnsOf.get(request.socket), 'a request comes on a connection')
      if (turns.current === undefined) start(turns, { request, response })
      else turns.waiting.push({ request, response })
    },
    /** Stops parsing, and calls `refuseRest` when every received request is answered. */
    whenAnswered(socket: Socket, refuseRest: () => void): void {
      const turns = assertPresent(turnsOf.get(socket), 'an error of the parser comes on a connection')
      if (turns.current?.request.complete !== true) return refuseRest()
      turns.refuseRest = refuseRest
      turns.unparsed = nothing
    },
  }
}

/**
 * Returns the rest after a result, in milliseconds. It is at most the time in Retry-After, so a client that waits that
 * long loses no time.
 */
function restMsAfter(result: TurnResult): number {
  if (typeof result === 'object') return result.spentForSeconds * msPerSecond
  return result === 'shed' ? shedRestMs : 0
}

const nothing = Buffer.alloc(0)

/**
 * Passes the received bytes to Node's parser in pieces. Stops when a request is complete, and continues after its
 * answer.
 */
function parseInPieces(socket: Socket, turns: Turns): void {
  const [parse] = socket.listeners('data')
  assert(parse !== undefined, 'Node parses what a connection receives')
  const advance = (): void => {
    while (turns.unparsed.length > 0 && !socket.destroyed && !socket.writableEnded) {
      // Stop if Node has paused the connection, because its body or answer is not being read.
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

/**
 * Returns the size of the next piece in bytes. A body of known length is one piece of at least `pieceBytes`, so the
 * piece can also contain bytes after the body.
 */
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
