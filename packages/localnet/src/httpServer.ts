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

/** Opens the HTTP server of the chain: `POST /` takes JSON-RPC, `GET /health` returns ok. */
export async function listenHttp(options: HttpServerOptions): Promise<ListeningServer> {
  const server = createServer((request, response) => {
    // This promise only rejects when the connection is gone, so the error cannot be reported to the client.
    void respond(options, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = keepAliveMs
  return { server, port: await listen(server, options) }
}

/** Resolves with the port, which the system chooses for 0. Rejects with a `Fault` if the port is taken. */
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

/** Uses the texts of real nodes, because some clients show them to people. */
async function respond(options: HttpServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Allow every origin as nodes do, because browser wallets are also clients.
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
    // Leave a hanging request open. Closing the server ends it.
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

/**
 * Nodes require this content type. A web page's form cannot send it, so the check also prevents a form from moving
 * funds.
 */
function isJson(request: IncomingMessage): boolean {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';')
  return type.trim().toLowerCase() === 'application/json'
}

/** Undefined if the body is too long. The rest is then not read, and the connection closes after the answer. */
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
 * web3.js reuses an idle connection for up to 19 s, because real nodes close it after 20 s. Node's default of 5 s could
 * close it just as a busy client sends a request.
 */
const keepAliveMs = 30_000

/** A full batch of the largest transactions takes 440 kB. */
const bodyBytesMax = 512 * 1024
