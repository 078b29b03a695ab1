import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterFile } from './afterFile.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Reaction of an external server to one request. */
export type Script = (asked: Asked, response: ServerResponse) => void

export interface LoopbackServer {
  readonly url: string
  readonly asked: Asked[]
  /** Its reaction from now on. */
  script(next: Script): void
}

/** A real HTTP server instead of a provider's. */
export async function openLoopbackServer(first: Script): Promise<LoopbackServer> {
  let script = first
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url: path = '', headers } = request
      const question = { method, path, headers, body }
      asked.push(question)
      script(question, response)
    })
  })
  return { url: await listenOnLoopback(server), asked, script: (next) => void (script = next) }
}

/** Listens on a free port until the end of the file. Returns the URL without a path. */
export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  afterFile(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => void server.close(() => resolve()))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on a port')
  return `http://127.0.0.1:${address.port}`
}

export function answersJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Script {
  return answersText(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
}

export function answersText(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Script {
  return (_asked, response) => void response.writeHead(status, headers).end(body)
}
