import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { describeError } from '@tollbook/core/fault'

export interface Address {
  readonly host: string
  readonly port: number
}

// libuv accepts one connection of a listener in each turn of the event loop, and a turn under load takes 10 ms or more.
// Clients who reconnect at once then keep health checks waiting for seconds.
const acceptorsCount = process.platform === 'linux' ? 16 : 1
// A burst of connections waits for the event loop here instead of being dropped and retried by the clients after a second.
const backlog = 4_096

/**
 * Listens with several sockets on one port, between which the kernel distributes new connections (SO_REUSEPORT), and
 * hands all of them to the server. Returns the further ones, which are closed with the server. Rejects when the port is in use.
 */
export async function listenWithAcceptors(server: Server, { host, port }: Address): Promise<readonly Server[]> {
  if (acceptorsCount === 1) {
    await opened(server, { host, port })
    return []
  }
  if (port !== 0) await requireFree({ host, port })
  await opened(server, { host, port, reusePort: true })
  const bound = portOf(server)
  const further = Array.from({ length: acceptorsCount - 1 }, () => createAcceptor(server))
  try {
    for (const acceptor of further) await opened(acceptor, { host, port: bound, reusePort: true })
  } catch (error) {
    for (const each of [server, ...further]) each.close()
    throw error
  }
  return further
}

/** With the options of Node's own HTTP server. */
function createAcceptor(server: Server): Server {
  return createServer(
    { allowHalfOpen: true, noDelay: true },
    (socket: Socket) => void server.emit('connection', socket),
  )
}

const answerMsMax = 1_000

/**
 * Connects to the port, because with SO_REUSEPORT a second instance would share it without an error. Listening for a moment
 * instead would accept callers who wait for this instance, and break their connections.
 */
async function requireFree(address: Address): Promise<void> {
  const { host, port } = address
  if (await isListening(address)) throw new Error(`listen EADDRINUSE: address already in use ${host}:${port}`)
}

export async function isListening({ host, port }: Address): Promise<boolean> {
  const socket = connect({ host: calledHosts.get(host) ?? host, port, timeout: answerMsMax })
  const answers = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    // Its queue is full.
    socket.once('timeout', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  return answers
}

/** Why nothing can listen on any port of the host; undefined if something can. */
export async function findHostProblem(host: string): Promise<string | undefined> {
  const server = createServer()
  try {
    await opened(server, { host, port: 0 })
    return undefined
  } catch (error) {
    return describeError(error)
  } finally {
    server.close()
  }
}

const calledHosts: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

async function opened(server: Server, options: Address & { readonly reusePort?: boolean }): Promise<void> {
  server.listen({ ...options, backlog })
  await once(server, 'listening')
}

/** 0 unless it listens. */
export function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
