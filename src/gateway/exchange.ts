import { type IncomingMessage, Agent as PlainAgent, request as plainRequest, type RequestOptions } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'

export interface Exchange {
  readonly origin: URL
  readonly method: string
  /** Path and query, percent-encoded, without the origin. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  readonly signal: AbortSignal
}

// Close idle connections after 4 s, because servers with a longer limit then rarely close one while a request is being
// sent.
const idleConnectionMs = 4_000
const headBytesMax = 32 * 1024

export type Connections = ReturnType<typeof openConnections>

/** Opens connections to one upstream, without redirects, decompression or cookies. */
export function openConnections({ protocol }: Pick<URL, 'protocol'>, socketsMax: number) {
  const options = { keepAlive: true, timeout: idleConnectionMs, maxSockets: socketsMax }
  const isPlain = protocol === 'http:'
  const agent = isPlain ? new PlainAgent(options) : new TlsAgent(options)
  return {
    exchange: (exchange: Exchange) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const { origin, method, target, headers, body, signal } = exchange
        const requested: RequestOptions = {
          agent,
          // Remove the brackets of an IPv6 address, because Node expects it without them.
          host: origin.hostname.replace(/^\[|\]$/g, ''),
          port: origin.port === '' ? null : origin.port,
          method,
          path: target,
          headers,
          signal,
          maxHeaderSize: headBytesMax,
          insecureHTTPParser: false,
        }
        const request = isPlain ? plainRequest(requested, resolve) : tlsRequest(requested, resolve)
        request.on('error', reject)
        request.on('upgrade', (_response, socket) => {
          socket.destroy()
          reject(new Error('an upgrade is not an answer'))
        })
        request.end(body)
      }),
    close: () => agent.destroy(),
  }
}
