import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { listenWithAcceptors, portOf } from './acceptors.ts'
import { answerClientError, endUnread, headerBytesMax } from './clientError.ts'
import { errorAnswer } from './transportError.ts'

const limits = {
  maxHeaderSize: headerBytesMax,
  headersTimeout: 10_000,
  // The body has a shorter limit (readBody.ts).
  requestTimeout: 30_000,
  // Longer than common proxies keep their connections, so that a proxy does not send a request on a connection that
  // closes.
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  // Off, because Node refuses a request without Host with an empty answer. `findFramingProblem` refuses it in JSON.
  requireHostHeader: false,
} as const
const requestsPerSocketMax = 10_000

export interface Listener {
  readonly port: number
  /** Waits for requests in progress, then closes the remaining connections. */
  drain(options: { readonly timeoutMs: number; readonly clock: Clock; readonly inFlight: () => number }): Promise<void>
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => unknown

export interface ListenOptions extends Partial<Guard> {
  readonly host: string
  readonly port: number
  /** Environment variables that contain the address, for the error message. */
  readonly variables?: string
}

interface Guard {
  /** False: the connection is not read. Called before any memory is allocated for the requests of a new connection. */
  readonly takes: (socket: Socket) => boolean
  readonly onConnection: (socket: Socket) => void
  /** Calls back after all requests that arrived before a parser error are answered. */
  readonly whenAnswered: (socket: Socket, then: () => void) => void
}

const unguarded: Guard = {
  takes: () => true,
  onConnection: () => undefined,
  whenAnswered: (_, then) => then(),
}

/**
 * Starts a server that limits headers, time and requests per connection. Rejects if the address or the port cannot be
 * used.
 */
export async function listen(
  serve: RequestListener,
  { host, port, variables = 'HOST, PORT', ...options }: ListenOptions,
): Promise<Listener> {
  const guard: Guard = { ...unguarded, ...options }
  const server = createServer(limits, (request, response) => void serve(request, response))
  server.maxRequestsPerSocket = requestsPerSocketMax
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => onClientError(guard, error, socket))
  server.on('connect', answerConnect)
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      // A refused client may or may not send its body, so no further request can be recognized on this connection.
      response.shouldKeepAlive = false
      serve(request, response)
    })
  }
  const sockets = guardConnections(server, guard)
  const acceptors = await listenWithAcceptors(server, { host, port }).catch((error: unknown) => {
    const advice = `${variables}: the address must be one of this machine, and the port free`
    throw new Fault(`cannot listen on ${host}:${port}. ${advice}`, { cause: error, retryable: false })
  })
  return { port: portOf(server), drain: (options) => drain({ server, acceptors, sockets }, options) }
}

/**
 * Lets `takes` refuse a connection before Node prepares to read it. A refused connection gets no parser, timeouts or
 * listeners. Returns the open sockets.
 */
function guardConnections(server: Server, { takes, onConnection }: Guard): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  const [serve] = server.listeners('connection')
  assert(serve !== undefined, 'Node serves connections by a listener')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    if (!takes(socket)) return
    Reflect.apply(serve, server, [socket])
    onConnection(socket)
  })
  return sockets
}

/**
 * Answers a parser error after the earlier requests. After `Connection: close`, later bytes are not a request, so the
 * connection is only closed.
 */
function onClientError({ whenAnswered }: Guard, error: NodeJS.ErrnoException, socket: Socket): void {
  const { code = '' } = error
  const answer = () => (code === 'HPE_CLOSED_CONNECTION' ? socket.end() : answerClientError(error, socket))
  if (code.startsWith('HPE_')) whenAnswered(socket, answer)
  else answer()
}

function answerConnect(_request: IncomingMessage, socket: Duplex): void {
  const headers = { allow: 'GET, HEAD, POST' }
  socket.on('error', () => socket.destroy())
  endUnread(socket, errorAnswer('METHOD_NOT_ALLOWED', 'this server is not a proxy (got CONNECT)', { headers }))
}

const drainPollMs = 50

interface Opened {
  readonly server: Server
  readonly acceptors: readonly NetServer[]
  readonly sockets: ReadonlySet<Socket>
}

async function drain(
  { server, acceptors, sockets }: Opened,
  { timeoutMs, clock, inFlight }: Parameters<Listener['drain']>[0],
): Promise<void> {
  const closed = Promise.all(
    [server, ...acceptors].map((each) => new Promise<void>((resolve) => each.close(() => resolve()))),
  )
  const deadlineMs = clock.monotonicMs() + timeoutMs
  server.closeIdleConnections()
  while (inFlight() > 0 && clock.monotonicMs() < deadlineMs) await clock.sleep(drainPollMs)
  // The requests in progress are answered or exceeded the timeout. Close the idle connections first, and wait once more
  // for the others.
  server.closeIdleConnections()
  await Promise.race([closed, clock.sleep(drainPollMs)])
  // Destroy all sockets, because Node's own list contains only the connections that it parses.
  for (const socket of sockets) socket.destroy()
  await closed
}
