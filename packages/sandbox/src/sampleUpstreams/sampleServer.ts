import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Clock } from '@tollbook/core/clock'
import { listen } from '@tollbook/localnet/httpServer'
import type { SampleProvider, SampleReply } from './sampleProvider.ts'

export interface SampleServer {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly origin: string
  close(): Promise<void>
}

// The largest body is a chat message of 8,000 characters with its JSON.
const bodyBytesMax = 256 * 1024
const host = '127.0.0.1'

/** Serves one provider on a separate port, so that all its paths equal those of the real provider. */
export async function openSampleServer(provider: SampleProvider, clock: Clock): Promise<SampleServer> {
  let origin = ''
  const server = createServer((request, response) => {
    // This promise only rejects when the connection is gone, so the error cannot be reported to the client.
    void respond(request, response).catch(() => response.destroy())
  })
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    if (body === undefined) return end(response, { status: 413, headers: { connection: 'close' }, body: '' })
    const url = URL.parse(request.url ?? '/', origin)
    const path = url === null ? undefined : decodePath(url.pathname)
    if (url === null || path === undefined) return end(response, { status: 400, headers: {}, body: '' })
    const { method = 'GET', headers } = request
    end(response, provider({ method, path, query: url.searchParams, headers, body, nowMs: clock.nowMs(), origin }))
  }
  const port = await listen(server, { host, port: 0 })
  origin = `http://${host}:${port}`
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { origin, close }
}

function decodePath(pathname: string): string | undefined {
  try {
    return decodeURIComponent(pathname)
  } catch {
    // The path contains a percent sign that encodes no character.
    return undefined
  }
}

/** Undefined if the body is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let byteCount = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    byteCount += bytes.length
    if (byteCount > bodyBytesMax) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function end(response: ServerResponse, { status, headers, body }: SampleReply): void {
  response.writeHead(status, headers).end(body)
}
