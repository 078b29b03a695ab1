import { createServer } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { afterFile } from '../../support/afterFile.ts'

export interface BucketServer {
  readonly endpoint: string
  readonly objects: Map<string, { readonly body: Buffer; readonly contentType: string }>
  /** The next request is answered with this status. */
  fail(status: number): void
}

/** Speaks the part of Amazon S3's protocol that is used: path-style addresses, signed requests, XML. */
export async function startBucketServer(): Promise<BucketServer> {
  const objects: BucketServer['objects'] = new Map()
  let failing: number | undefined
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const signed = request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=key/') ?? false
      const url = new URL(request.url ?? '/', 'http://bucket')
      const answer = (status: number, xml = '') =>
        response.writeHead(status, { 'content-type': 'application/xml' }).end(xml)
      if (failing !== undefined) return answer(failing, errorXml('InternalError'))
      if (!signed) return answer(403, errorXml('AccessDenied'))
      if (url.searchParams.get('list-type') === '2')
        return answer(200, listXml([...objects.keys()], Number(url.searchParams.get('continuation-token') ?? 0)))
      const key = url.pathname
      const contentType = request.headers['content-type'] ?? ''
      const found = objects.get(key)
      if (request.method === 'PUT') objects.set(key, { body, contentType })
      if (request.method === 'DELETE') objects.delete(key)
      if (request.method === 'DELETE') return answer(204)
      if (request.method === 'PUT') return answer(200)
      if (found === undefined) return answer(404, errorXml('NoSuchKey'))
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const part = first === undefined ? found.body : found.body.subarray(Number(first), Number(last) + 1)
      return response
        .writeHead(first === undefined ? 200 : 206, {
          'content-type': found.contentType,
          'content-length': part.length,
        })
        .end(part)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterFile(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on a port')
  return { endpoint: `http://127.0.0.1:${address.port}`, objects, fail: (status) => void (failing = status) }
}

function errorXml(code: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
}

const pageMax = 1_000

function listXml(keys: readonly string[], start: number): string {
  const end = start + pageMax
  const contents = keys
    .slice(start, end)
    .map((key) => `<Contents><Key>${key.replace(/^\/bucket\//, '')}</Key><Size>1</Size></Contents>`)
  return `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>bucket</Name><IsTruncated>${end < keys.length}</IsTruncated>${end < keys.length ? `<NextContinuationToken>${end}</NextContinuationToken>` : ''}${contents.join('')}</ListBucketResult>`
}
