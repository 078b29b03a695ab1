import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Clock } from '@tollbook/core/clock'
import { listen } from '@tollbook/localnet/httpServer'
import type { SampleProvider } from './sampleProvider.ts'

export interface SampleServer {
  /** Without a trailing slash. */
  readonly origin: string
  close(): Promise<void>
}

// Maximum bytes of a body, enough for the longest chat.
const bodyBytesMax = 256 * 1024
const host = '127.0.0.1'

/** Each provider has a separate port, so that all paths are the same as at the real provider. */
export async function openSampleServer(provider: SampleProvider, clock: Clock): Promise<SampleServer> {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', `http://${host}`)
    const reply = provider({ path, query, body, nowMs: clock.nowMs() })
    response.writeHead(reply.status, { 'content-type': reply.contentType }).end(reply.body)
  }
  const server = createServer((request, response) => {
    // Close the connection after an error, for example if the body is too long.
    void respond(request, response).catch(() => response.destroy())
  })
  const port = await listen(server, { host, port: 0 })
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { origin: `http://${host}:${port}`, close }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let byteCount = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    byteCount += bytes.length
    if (byteCount > bodyBytesMax) throw new RangeError('the body is too long')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
