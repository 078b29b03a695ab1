import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { describeError } from '@tollbook/core/fault'

export interface Address {
  readonly host: string
  readonly port: number
}

// libuv accepts one connection per listener in each turn of the event loop. With one listener, health checks would wait
// for seconds when many clients reconnect at once.
const acceptorsCount = process.platform === 'linux' ? 16 : 1
// Beyond this backlog, the kernel drops connections, and the clients retry after a second.
const backlog = 4_096

/**
 * Listens with several sockets, between which the kernel distributes new connections (SO_REUSEPORT). Outside of Linux
 * there is only one socket. Returns the additional sockets. Rejects if the port is in use.
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

/** Creates a listener that passes its connections to the server. The options are those of Node's HTTP server. */
function createAcceptor(server: Server): Server {
  return createServer(
    { allowHalfOpen: true, noDelay: true },
    (socket: Socket) => void server.emit('connection', socket),
  )
}

const answerMsMax = 1_000

/**
 * Throws if another server listens on the address. With SO_REUSEPORT, a second instance would share the port without an
 * error. This function tries to connect, because a test listener would accept callers of the other instance and break
 * their connections.
 */
async function requireFree(address: Address): Promise<void> {
  const { host, port } = address
  if (await isListening(address)) throw new Error(`listen EADDRINUSE: address already in use ${host}:${port}`)
}

export async function isListening({ host, port }: Address): Promise<boolean> {
  const socket = connect({ host: calledHosts.get(host) ?? host, port, timeout: answerMsMax })
  const answers = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    // Treat a timeout as listening, because the queue of another server may be full.
    socket.once('timeout', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  return answers
}

/** Returns the error, or undefined if a server can listen on the address. Port 0 stands for any port. */
export async function findListenProblem(address: Address): Promise<string | undefined> {
  const server = createServer()
  try {
    await opened(server, address)
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

export function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
