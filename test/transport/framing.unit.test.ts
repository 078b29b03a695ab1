import { beforeAll, describe, expect, test } from 'vitest'
import { awaitThat } from '../support/awaitThat.ts'
import { openPlainServer } from './plainServer.ts'
import { exchange, openRawSocket } from './rawSocket.ts'

let port: number

beforeAll(async () => {
  const server = await openPlainServer()
  port = server.port
})

const body = '{"word":"hello"}'
const length = `Content-Length: ${body.length}`
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const order = ['POST /order HTTP/1.1', 'Host: a', 'Test: payer', 'Content-Type: application/json']

function jsonOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4))
}

describe('a request with two readings is refused in JSON', () => {
  test.each([
    ['no Host', ['GET /free HTTP/1.1'], ''],
    ['Transfer-Encoding: gzip, chunked', [...order, 'Transfer-Encoding: gzip, chunked'], chunked],
    ['TE: gzip, chunked', ['GET /free HTTP/1.1', 'Host: a', 'TE: gzip, chunked'], ''],
    ['chunks on HTTP/1.0', ['POST /order HTTP/1.0', ...order.slice(1), 'Transfer-Encoding: chunked'], chunked],
    ['two Content-Types', [...order, 'Content-Type: text/plain', length], body],
    ['HTTP/2.0 in the request line', ['GET /free HTTP/2.0', 'Host: a'], ''],
    ['a target with a fragment', ['GET /free#part HTTP/1.1', 'Host: a'], ''],
    ['a malformed URL as target', ['GET http://[::/free HTTP/1.1', 'Host: a'], ''],
  ])('%s', async (_, head, content) => {
    const answer = await exchange(port, head, content)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(jsonOf(answer)).toMatchObject({ code: 'INVALID_REQUEST' })
  })

  test.each([
    ['HTTP/1.1', 'Transfer-Encoding: gzip, chunked'],
    ['HTTP/1.0', 'Transfer-Encoding: chunked'],
  ])('and no request after it on its connection is served: %s', async (version, encoding) => {
    const head = [`POST /order ${version}`, ...order.slice(1), 'Connection: keep-alive', encoding]
    const next = 'GET /free HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const answer = await openRawSocket(port, `${head.join('\r\n')}\r\n\r\n${chunked}${next}`).closed
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400'])
  })

  test('an expectation that is not 100-continue', async () => {
    const answer = await exchange(port, ['GET /free HTTP/1.1', 'Host: a', 'Expect: a-pony'])
    expect(answer).toMatch(/^HTTP\/1\.1 417 /)
    expect(jsonOf(answer)).toMatchObject({ code: 'EXPECTATION_FAILED' })
  })

  test('CONNECT', async () => {
    const answer = await exchange(port, ['CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443'])
    expect(answer).toMatch(/^HTTP\/1\.1 405 /)
    expect(jsonOf(answer)).toMatchObject({ code: 'METHOD_NOT_ALLOWED' })
  })
})

describe('a refusal of the parser names what is wrong', () => {
  test.each([
    ['GET /free HTTP/1.1\nHost: a\n\n', /lines must end with CRLF/],
    ['GET /free HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n', /header/],
    ['PUSH /free HTTP/1.1\r\n\r\n', /method is not known/],
    ['GET free HTTP/1.1\r\n\r\n', /target must begin with/],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /HTTP\/2 is not served/],
    ['POST /order HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n', /Content-Length must be given once/],
    ['POST /order HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', /Transfer-Encoding/],
    ['POST /order HTTP/1.1\r\nContent-Length: 1e9\r\n\r\n', /Content-Length must be a whole number/],
    [`${order.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n`, /chunk/],
  ])('%j', async (bytes, message) => {
    const answer = await openRawSocket(port, bytes).closed
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\nx-request-id: request_/)
    expect(jsonOf(answer)).toMatchObject({ code: 'INVALID_REQUEST', error: expect.stringMatching(message) })
  })
})

describe('a request is answered before an error in the bytes after it', () => {
  test('that do not parse', async () => {
    const answer = await openRawSocket(port, 'GET /free HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n').closed
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nfreeHTTP\/1\.1 400 /)
  })

  test('that come after Connection: close', async () => {
    const [first, second] = [
      ['GET /free HTTP/1.1', 'Host: a', 'Connection: close', '', ''],
      ['GET /free HTTP/1.1', '', ''],
    ]
    const answer = await openRawSocket(port, [...first, ...second].join('\r\n')).closed
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nfree$/)
  })
})

describe('a body in chunks of a byte', () => {
  const begin = [...order, 'Transfer-Encoding: chunked', '', ''].join('\r\n')
  const byte = '1\r\n \r\n'

  test('is read', async () => {
    const { socket, received } = openRawSocket(port, `${begin}${byte.repeat(900)}${chunked}`)
    const answer = await awaitThat('it is answered', () => /^HTTP\/1\.1 \d+/.exec(received())?.[0])
    expect(answer).toBe('HTTP/1.1 503')
    socket.destroy()
  })

  test('is refused beyond a thousand of them, because each costs as much as a kilobyte', async () => {
    const { socket, received } = openRawSocket(port, `${begin}${byte.repeat(20_000)}`)
    await awaitThat('it is answered', () => received().endsWith('}'))
    expect(received()).toMatch(/^HTTP\/1\.1 400 /)
    expect(jsonOf(received())).toMatchObject({ error: expect.stringMatching(/at most 1000 chunks/) })
    socket.destroy()
  })
})

describe('100 Continue', () => {
  const expecting = 'Expect: 100-continue'

  test('is not sent to a client of HTTP/1.0, which does not know it', async () => {
    const head = ['POST /order HTTP/1.0', ...order.slice(1), length, expecting]
    expect(await exchange(port, head, body)).toMatch(/^HTTP\/1\.1 503 /)
  })

  test('is sent when the body is wanted, and the answer follows', async () => {
    const answer = await exchange(port, [...order, length, expecting], body)
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 503 /)
    expect(jsonOf(answer)).toMatchObject({ code: 'ENDPOINT_UNAVAILABLE' })
  })

  test.each([
    ['the path', 404, ['POST /nowhere HTTP/1.1', 'Host: a', length]],
    ['the method', 405, ['PUT /order HTTP/1.1', 'Host: a', length]],
    ['the payer', 401, ['POST /order HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Test-Wrong: x', length]],
    ['the media type', 415, ['POST /order HTTP/1.1', 'Host: a', 'Test: payer', 'Content-Type: text/plain', length]],
    ['the length', 413, [...order, 'Content-Length: 1000000']],
  ])('is not sent when %s is refused', async (_, status, head) => {
    expect(await exchange(port, [...head, expecting])).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })
})
