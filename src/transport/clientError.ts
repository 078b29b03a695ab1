import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { newId } from '@tollbook/core/id'
import type { Answer } from '../paywall/answer.ts'
import { errorAnswer, type TransportError } from './transportError.ts'

/** Request target and all headers together. A payment of x402 or MPP makes a header of about 4 kB. */
export const headerBytesMax = 16 * 1024

const lineEnds = 'a line does not end as HTTP/1.1 requires: lines must end with CRLF'
const chunks = 'a chunk of the body is malformed: its size in hexadecimal and its data must each end with CRLF'
const transferEncoding = 'Transfer-Encoding must be chunked alone, without Content-Length'

const messages: ReadonlyMap<string, string> = new Map([
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'the extensions of a chunk are too long: send chunks without extensions'],
  ['HPE_CR_EXPECTED', lineEnds],
  ['HPE_INVALID_CHUNK_SIZE', chunks],
  ['HPE_INVALID_CONTENT_LENGTH', 'Content-Length must be a whole number of bytes, without Transfer-Encoding'],
  ['HPE_INVALID_EOF_STATE', 'the connection ended before the request was complete'],
  ['HPE_INVALID_HEADER_TOKEN', 'a header has a character that HTTP/1.1 does not allow, or continues on the next line'],
  [
    'HPE_INVALID_METHOD',
    'the method is not known: this port speaks HTTP/1.1 in plain text, and methods are upper case',
  ],
  ['HPE_INVALID_TRANSFER_ENCODING', transferEncoding],
  ['HPE_INVALID_URL', 'the request target must begin with / and be visible ASCII'],
  ['HPE_INVALID_VERSION', 'the request line must end with HTTP/1.1 or HTTP/1.0, and lines must end with CRLF'],
  ['HPE_LF_EXPECTED', lineEnds],
  ['HPE_PAUSED_H2_UPGRADE', 'HTTP/2 is not served here: use HTTP/1.1'],
  ['HPE_STRICT', chunks],
  ['HPE_UNEXPECTED_CONTENT_LENGTH', 'Content-Length must be given once'],
])

/** Answers a request that Node could not parse, because Koa never receives it. */
export function answerClientError({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [error, message] = clientErrorOf(code)
  endUnread(socket, errorAnswer(error, message))
}

// Received bytes are dropped for this long, so that a client that continues to send can read the answer.
const lingerMs = 2_000

/**
 * Sends the answer and ends the connection. Bytes that the client still sends are dropped, so that they do not fill the
 * memory. The connection is destroyed after a delay, because a client that never closes its side would delay a
 * shutdown.
 */
export function endUnread(socket: Duplex, answer: Answer): void {
  socket.removeAllListeners('data')
  socket.end(rawAnswer(answer))
  socket.resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

function clientErrorOf(code: string): readonly [TransportError, string] {
  if (code === 'HPE_HEADER_OVERFLOW')
    return ['HEADERS_TOO_LARGE', `target and headers must fit into ${headerBytesMax} bytes`]
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['REQUEST_TIMEOUT', 'the request did not arrive in time']
  return ['INVALID_REQUEST', messages.get(code) ?? 'the request is not well-formed HTTP/1.1']
}

/** Writes the answer as text, for a connection to which Node's HTTP server does not write. */
function rawAnswer({ status, headers, body }: Answer): string {
  const all = {
    ...headers,
    'x-request-id': newId('request'),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n')
}
