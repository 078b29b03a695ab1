import { type Server, createServer } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '@tollbook/core/clock'
import type { Log } from './log.ts'
import { type HttpServerOptions, listen, listenHttp } from './httpServer.ts'

export interface PortPairOptions extends HttpServerOptions {
  readonly log: Log
}

export interface PortPair {
  readonly port: number
  readonly servers: readonly Server[]
}

/**
 * Also listens on the next port, because web3.js v1 connects WebSockets to the next port unless it gets a `wsEndpoint`.
 * A requested port is used even if its successor is in use. Otherwise, up to ten ports are tried until the successor is
 * free.
 */
export async function listenOnPair(options: PortPairOptions): Promise<PortPair> {
  for (let tries = 1; ; tries++) {
    const { server, port } = await listenHttp(options)
    const second = await listenSecond(options.host, port + 1)
    if (second !== undefined) return { port, servers: [server, second] }
    if (options.port !== 0 || tries === triesMax) {
      options.log.warn({ port: port + 1 }, 'local_chain_websocket_port_taken')
      return { port, servers: [server] }
    }
    await closeServers([server])
  }
}

/** Lets requests in progress finish for 200 ms, then cuts connections that are still open. */
export async function closeServers(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(closeServer))
}

async function closeServer(server: Server): Promise<void> {
  // Wait some turns first, because a request in the kernel's buffer is read only in the next turn. `close` would cut
  // its connection as idle, and web3.js would fail with an unhandled error.
  for (let turn = 1; turn <= turnsBeforeClose; turn++) await nextTurn()
  const closed = new AbortController()
  const closing = new Promise<void>((resolve) => server.close(() => resolve()))
  const late = systemClock.sleep(graceMs, closed.signal).then(
    () => server.closeAllConnections(),
    () => undefined,
  )
  await closing
  closed.abort()
  await late
}

/** Undefined if the server cannot listen, for example because the port is in use. */
async function listenSecond(host: string, port: number): Promise<Server | undefined> {
  const server = createServer((_, response) => {
    response.statusCode = 426
    response.end('this port is for WebSockets; JSON-RPC is on the port before it')
  })
  return listen(server, { host, port }).then(
    () => server,
    () => undefined,
  )
}

const triesMax = 10
const graceMs = 200
const turnsBeforeClose = 3
