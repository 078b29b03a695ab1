import { createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { assert } from '@tollbook/core/assert'

/*
 * An upstream that fails in one of many ways. It writes bytes and not HTTP messages, because a library would correct
 * most of these faults.
 */

export interface Fault {
  /** Reaction to one request. */
  readonly answer: (socket: Socket) => void
  /** Failure of an answer that is not sold. */
  readonly code: 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT' | 'NO_DATA'
}

const crlf = '\r\n'
const ok = 'HTTP/1.1 200 OK'

function message(start: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  return Buffer.concat([Buffer.from([start, ...headers, '', ''].join(crlf)), Buffer.from(body)])
}

const jsonType = 'content-type: application/json'
const whole = '{"ok":true,"text":"0123456789"}'
const withLength = (text: string | Buffer, length = text.length) => [jsonType, `content-length: ${length}`]

const sends = (bytes: Buffer) => (socket: Socket) => void socket.write(bytes)
const status = (line: string, ...headers: readonly string[]) =>
  sends(message(`HTTP/1.1 ${line}`, [...withLength(whole), ...headers], whole))
export const jsonBody = (text: string | Buffer, ...headers: readonly string[]) =>
  sends(message(ok, [...withLength(text), ...headers], text))

/** Sends and then closes. `cuts` resets the connection, so that its end cannot be taken for the end of the answer. */
const sendsAndEnds = (bytes: Buffer) => (socket: Socket) => void socket.end(bytes)
const sendsAndResets = (bytes: Buffer) => (socket: Socket) => {
  socket.write(bytes, () => socket.resetAndDestroy())
}

/** Sends the same bytes until the other side has enough. */
const endless = (head: Buffer, part: Buffer) => (socket: Socket) => {
  const more = () => {
    if (socket.destroyed) return
    if (socket.write(part)) setImmediate(more)
    else socket.once('drain', more)
  }
  socket.write(head)
  more()
}

const chunk = (text: string) => `${text.length.toString(16)}${crlf}${text}${crlf}`
const chunked = [jsonType, 'transfer-encoding: chunked']
const stream = ['content-type: text/event-stream', 'transfer-encoding: chunked']
const kilobyte = 'x'.repeat(1024)

/** Faults of an upstream that is asked by a route with a limit of 8 KiB, a short time and the rule `/ok` is true. */
export const faults: Readonly<Record<string, Fault>> = {
  'status 500': { code: 'UPSTREAM_FAILED', answer: status('500 Internal Server Error') },
  'status 503 with a pause': { code: 'UPSTREAM_FAILED', answer: status('503 Unavailable', 'retry-after: 1') },
  'status 429': { code: 'UPSTREAM_FAILED', answer: status('429 Too Many Requests', 'retry-after: 1') },
  'status 401': { code: 'UPSTREAM_FAILED', answer: status('401 Unauthorized', 'www-authenticate: Basic') },
  'status 422': { code: 'UPSTREAM_FAILED', answer: status('422 Unprocessable Content') },
  'status 404': { code: 'NO_DATA', answer: status('404 Not Found') },
  'status 206': { code: 'UPSTREAM_FAILED', answer: status('206 Partial Content', 'content-range: bytes 0-30/90') },
  'status 204': { code: 'UPSTREAM_FAILED', answer: sends(message('HTTP/1.1 204 No Content', [])) },
  'a redirect to a private address': {
    code: 'UPSTREAM_FAILED',
    answer: status('302 Found', 'location: http://169.254.169.254/latest/meta-data/'),
  },
  'a redirect that keeps the method': { code: 'UPSTREAM_FAILED', answer: status('307 Moved', 'location: /other') },
  'a failure under 200': { code: 'UPSTREAM_FAILED', answer: jsonBody('{"ok":false,"error":"quota"}') },
  'no member of success': { code: 'UPSTREAM_FAILED', answer: jsonBody('[]') },
  'invalid JSON': { code: 'UPSTREAM_FAILED', answer: jsonBody('{"ok":true,') },
  'JSON that is not UTF-8': {
    code: 'UPSTREAM_FAILED',
    answer: jsonBody(Buffer.from('{"ok":true,"a":"\xff"}', 'latin1')),
  },
  'an empty answer': { code: 'UPSTREAM_FAILED', answer: jsonBody('') },
  'a page instead of JSON': {
    code: 'UPSTREAM_FAILED',
    answer: sends(message(ok, ['content-type: text/html', 'content-length: 9'], '<h1>Oops')),
  },
  'no media type': { code: 'UPSTREAM_FAILED', answer: sends(message(ok, ['content-length: 31'], whole)) },
  'a compressed answer': { code: 'UPSTREAM_FAILED', answer: jsonBody(gzipSync(whole), 'content-encoding: gzip') },
  'a broken compressed answer': { code: 'UPSTREAM_FAILED', answer: jsonBody('gzip?', 'content-encoding: gzip') },
  'a cut answer with a length': {
    code: 'UPSTREAM_FAILED',
    answer: sendsAndEnds(message(ok, withLength(whole, 1_000), whole)),
  },
  'a reset after 90 %': {
    code: 'UPSTREAM_FAILED',
    answer: sendsAndResets(message(ok, withLength(whole), whole.slice(0, 28))),
  },
  'chunks without an end': { code: 'UPSTREAM_FAILED', answer: sendsAndEnds(message(ok, chunked, chunk(whole))) },
  'chunks of a wrong size': {
    code: 'UPSTREAM_FAILED',
    answer: sendsAndEnds(message(ok, chunked, `zz${crlf}${whole}`)),
  },
  'an answer that ends with its connection': {
    code: 'UPSTREAM_FAILED',
    answer: sendsAndEnds(message(ok, ['content-type: text/csv'], 'a,b\n1,2\n')),
  },
  'an answer beyond the limit': {
    code: 'UPSTREAM_FAILED',
    answer: jsonBody(`{"ok":true,"t":"${kilobyte.repeat(9)}"}`),
  },
  'an endless answer': {
    code: 'UPSTREAM_FAILED',
    answer: endless(message(ok, chunked, chunk('{"ok":true,"t":"')), Buffer.from(chunk(kilobyte))),
  },
  'endless headers': {
    code: 'UPSTREAM_FAILED',
    answer: endless(Buffer.from(ok + crlf), Buffer.from(`x-a: ${kilobyte}${crlf}`)),
  },
  'many headers': {
    code: 'UPSTREAM_FAILED',
    answer: jsonBody(whole, ...Array.from({ length: 5_000 }, (_, index) => `x-header-${index}: 1`)),
  },
  'endless interim answers': {
    code: 'UPSTREAM_TIMEOUT',
    answer: endless(Buffer.alloc(0), Buffer.from(`HTTP/1.1 103 Early Hints${crlf}link: </a>${crlf}${crlf}`)),
  },
  'no answer': { code: 'UPSTREAM_TIMEOUT', answer: () => undefined },
  'a head without a body': { code: 'UPSTREAM_TIMEOUT', answer: sends(message(ok, withLength(whole, 1_000))) },
  'a body that drips': {
    code: 'UPSTREAM_TIMEOUT',
    answer: (socket) => {
      socket.write(message(ok, withLength(whole, 1_000)))
      const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('{')), 20)
    },
  },
  'a reset before the head': { code: 'UPSTREAM_FAILED', answer: (socket) => void socket.resetAndDestroy() },
  'an end before the head': { code: 'UPSTREAM_FAILED', answer: (socket) => void socket.end() },
  'bytes that are not HTTP': { code: 'UPSTREAM_FAILED', answer: sends(Buffer.from('SSH-2.0-OpenSSH_9.2\r\n\r\n')) },
  'a length and chunks': {
    code: 'UPSTREAM_FAILED',
    answer: sends(message(ok, [...withLength(whole), 'transfer-encoding: chunked'], `0${crlf}${crlf}`)),
  },
  'two lengths': { code: 'UPSTREAM_FAILED', answer: jsonBody(whole, 'content-length: 4') },
  'a line break in a header': {
    code: 'UPSTREAM_FAILED',
    answer: sends(message(ok, ['x-a: 1\rcontent-length: 4', ...withLength(whole)], whole)),
  },
  'an upgrade': {
    code: 'UPSTREAM_FAILED',
    answer: sends(message('HTTP/1.1 101 Switching Protocols', ['connection: upgrade', 'upgrade: websocket'])),
  },
  'an empty stream': { code: 'UPSTREAM_FAILED', answer: sends(message(ok, stream, `0${crlf}${crlf}`)) },
  'a stream that ends with its connection': {
    code: 'UPSTREAM_FAILED',
    answer: sendsAndEnds(message(ok, ['content-type: text/event-stream'], 'data: 1\n\n')),
  },
}

/** Faults of a stream after its first byte. The answer has begun and is cut. */
export const streamFaults: Readonly<Record<string, (socket: Socket) => void>> = {
  'a stream that is cut': sendsAndEnds(message(ok, stream, chunk('data: 1\n\n'))),
  'a stream that is reset': sendsAndResets(message(ok, stream, chunk('data: 1\n\n'))),
  'a stream that falls silent': sends(message(ok, stream, chunk('data: 1\n\n'))),
  'a stream without its last event': sends(message(ok, stream, `${chunk('data: 1\n\n')}0${crlf}${crlf}`)),
  'a stream beyond the limit': endless(message(ok, stream, chunk('data: 1\n\n')), Buffer.from(chunk(kilobyte))),
}

/** A failure whose body never ends. */
export const unfinishedFailure = sends(message('HTTP/1.1 500 Internal Server Error', withLength(whole, 1_000), whole))
/** An answer that may be sold. */
export const honest = jsonBody(whole)
export const csvBody = (text: string) =>
  sends(message(ok, ['content-type: text/csv', `content-length: ${text.length}`], text))
export const honestCsv = csvBody('a,b\n')
export const oddMediaType = sends(message(ok, ['content-type: text/csv; name=é', 'content-length: 4'], 'a,b\n'))
export const honestStream = sends(
  message(ok, stream, `${chunk('data: 1\n\n')}${chunk('data: [DONE]\n\n')}0${crlf}${crlf}`),
)
/** An honest answer, and a second one without a request. */
export const smuggled = sends(
  Buffer.concat([message(ok, withLength(whole), whole), message(ok, withLength('"EVIL"'), '"EVIL"')]),
)
export const withCookies = jsonBody(
  whole,
  'set-cookie: a=1',
  'x-internal: 10.0.0.1',
  'connection: keep-alive',
  'etag: "1"',
)
export const honestText = whole

export interface FailingUpstream {
  readonly url: string
  /** Requests that it has read. */
  requests(): number
  answer(next: (socket: Socket) => void): void
  close(): Promise<void>
}

export async function openFailingUpstream(): Promise<FailingUpstream> {
  let current: (socket: Socket) => void = honest
  let requests = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      received = ''
      requests++
      current(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'the server listens on a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: () => requests,
    answer: (next) => void (current = next),
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
