import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Fault } from '@tollbook/core/fault'
import type { RpcAnswer } from './rpcService.ts'

export interface HttpServerOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly answer: (text: string) => Promise<RpcAnswer>
}

export interface ListeningServer {
  readonly server: Server
  readonly port: number
}

/** Serves JSON-RPC by POST, and `GET /health`. */
export async function listenHttp(options: HttpServerOptions): Promise<ListeningServer> {
  const server = createServer((request, response) => {
    // The promise rejects only if the connection is closed, so the client cannot receive the error.
    void respond(options, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = keepAliveMs
  return { server, port: await listen(server, options) }
}

/**
 * Starts to listen, and returns the port. The system chooses the port if 0 is requested. Throws a `Fault` if it cannot
 * listen, for example because the port is in use.
 */
export async function listen(
  server: Server,
  { host, port }: Pick<HttpServerOptions, 'host' | 'port'>,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    // Keep the listener for the lifetime of the server, because an error without a listener would end the process.
    server.on('error', (cause) => {
      const fault = new Fault(
        `cannot listen on ${host}:${port}: the address must be one of this machine, and the port free`,
        {
          cause,
          retryable: false,
        },
      )
      reject(fault)
    })
    server.listen({ host, port, exclusive: true }, resolve)
  })
  return portOf(server.address())
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address !== null) return address.port
  throw new Fault('a server on TCP has a port', { retryable: false })
}

/** Answers a request. Error texts are those of real nodes, because some clients show them to people. */
async function respond(options: HttpServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Allow every origin, as nodes do, because wallets in browsers are clients too.
  response.setHeader('access-control-allow-origin', '*')
  if (request.method === 'OPTIONS') return allowOrigin(response)
  if (request.method === 'GET' && request.url === '/health') return end(response, 200, 'ok')
  if (request.method !== 'POST')
    return end(response, 405, 'Used HTTP Method is not allowed. POST or OPTIONS is required')
  if (!isJson(request)) {
    return end(response, 415, 'Supplied content type is not allowed. Content-Type: application/json is required')
  }
  const text = await readBody(request)
  if (text === undefined) return end(response, 413, `Request too large; max ${bodyBytesMax} bytes`)
  send(response, await options.answer(text))
}

function send(response: ServerResponse, answer: RpcAnswer): void {
  switch (answer.kind) {
    case 'body':
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end(JSON.stringify(answer.json))
      return
    case 'nothing':
      end(response, 204, '')
      return
    case 'failure':
      if (answer.outcome === 'disconnect') response.destroy()
      if (answer.outcome === 'unavailable') end(response, 503, '')
      if (answer.outcome === 'tooManyRequests') end(response, 429, 'Too many requests')
    // Do not answer a `hang`. The request ends when the client disconnects, or when the server closes.
  }
}

function allowOrigin(response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'POST')
  response.setHeader('access-control-allow-headers', 'content-type, solana-client')
  response.setHeader('access-control-max-age', '86400')
  end(response, 204, '')
}

function end(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  response.end(text)
}

/** True for the content type of JSON, which an HTML form cannot send. So no web page can move funds with a form. */
function isJson(request: IncomingMessage): boolean {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';')
  return type.trim().toLowerCase() === 'application/json'
}

/** Undefined if the body is too long. Node then drops the rest of it. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue
    length += chunk.length
    if (length > bodyBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Time for which idle connections stay open. It exceeds the 19 s for which web3.js reuses a connection. Otherwise the
 * server could close it just as a client sends a request.
 */
const keepAliveMs = 30_000

/** Maximum size of a request body. A full batch of the largest transactions has 440 kB. */
const bodyBytesMax = 512 * 1024
