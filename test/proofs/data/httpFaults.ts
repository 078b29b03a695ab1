import { gzipSync } from 'node:zlib'
import type { Answering } from '../../support/loopbackProvider.ts'
import { text } from '../../support/loopbackProvider.ts'

/** The provider's honest reply. */
export interface HonestReply {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface HttpFault {
  readonly name: string
  readonly answering: Answering
  /** The provider's way of saying that it does not have the item. */
  readonly saysUnknown?: boolean
}

const half = (all: Buffer): Buffer => all.subarray(0, all.length / 2)
const page = '<!doctype html><title>Before you continue</title><p>Please accept.</p>'
const html = { 'content-type': 'text/html; charset=utf-8' }
const json = { 'content-type': 'application/json' }

/** Replies without an answer, for any provider. */
export function httpFaults({ headers, text: body }: HonestReply): readonly HttpFault[] {
  const status = (code: number, said: string, of: Readonly<Record<string, string>> = json): HttpFault => {
    return { name: `HTTP ${code} ${said.slice(0, 24)}`, answering: text(said, { status: code, headers: of }) }
  }
  const ok = (name: string, said: string, of: Readonly<Record<string, string>> = headers): HttpFault => {
    return { name: `200 ${name}`, answering: text(said, { headers: of }) }
  }
  const bytes = (name: string, sent: Buffer, of: Readonly<Record<string, string>>): HttpFault => {
    return { name: `200 ${name}`, answering: (response) => void response.writeHead(200, of).end(sent) }
  }
  return [
    ...[401, 402, 403, 404, 418, 429, 451].flatMap((code) => [
      status(code, '{"error":"no"}'),
      status(code, page, html),
    ]),
    status(429, 'Too Many Requests', { 'retry-after': '0' }),
    ...[500, 502, 503, 504].map((code) => status(code, page, { ...html, 'retry-after': '30' })),
    status(500, '{"error":"internal"}'),
    status(302, '', { location: 'http://169.254.169.254/latest/meta-data/' }),
    status(301, body, { ...headers, location: '/consent' }),
    status(500, body, { ...headers, 'retry-after': '30' }),
    status(403, body, headers),
    ok('nothing', ''),
    ok('a page', page, html),
    ok('a page as JSON', page),
    ok('null', 'null'),
    ok('false', 'false'),
    ok('a text', '"ok"'),
    ok('an error object', '{"error":"something went wrong"}'),
    ok('a failed success', '{"success":false,"status":"error","message":"try later"}'),
    ok('the limit as text', 'Too many requests, please try again later.'),
    ok('half a body', body.slice(0, body.length / 2)),
    ok('all but the last byte', body.slice(0, -1).trimEnd().slice(0, -1)),
    ok('two bodies', `${body}${body}`),
    ok('a body of 2 MB', `${' '.repeat(2 ** 21)}${body}`),
    ok('a body of 10 MB', `${body}${' '.repeat(10 * 2 ** 20)}`),
    ok('a mark of its byte order', `\ufeff${body}`),
    bytes('in UTF-16', Buffer.from(`\ufeff${body}`, 'utf16le'), headers),
    bytes('half a gzip', half(gzipSync(body)), { ...headers, 'content-encoding': 'gzip' }),
    bytes('a gzip of 50 MB', gzipSync(`${' '.repeat(50 * 2 ** 20)}${body}`), {
      ...headers,
      'content-encoding': 'gzip',
    }),
    ok('JSON with a comment', `// cached\n${body}`),
    ok('a callback', `callback(${body});`),
    status(307, body, { ...headers, location: 'https://example.com/same' }),
    status(206, half(Buffer.from(body)).toString(), headers),
    status(203, '{"deprecated":true}'),
    status(204, ''),
    ok('a false content coding', body, { ...headers, 'content-encoding': 'gzip' }),
    { ...ok('an empty list', '[]'), saysUnknown: true },
    { ...ok('an empty object', '{}'), saysUnknown: true },
    { name: 'hangs up', answering: (response) => void response.destroy() },
    {
      name: 'breaks off in the body',
      answering(response) {
        response.writeHead(200, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
        response.write(body.slice(0, body.length / 2), () => response.destroy())
      },
    },
  ]
}
