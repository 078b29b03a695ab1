import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { portOf } from '../../src/transport/acceptors.ts'
import { createConnections } from '../../src/transport/connections.ts'
import { listen } from '../../src/transport/server.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { steppedClock } from '../support/steppedClock.ts'
import { openPlainServer } from './plainServer.ts'
import { exchange, openRawSocket } from './rawSocket.ts'

const get = (path: string) => [`GET ${path} HTTP/1.1`, 'Host: a', '', ''].join('\r\n')
const post = (length: number, body: string) =>
  [
    'POST /order HTTP/1.1',
    'Host: a',
    'Test: payer',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\r\n')
const complete = '{"word":"hello"}'
const stalled = post(complete.length + 1, complete)
const ask = (port: number, path = '/free') => exchange(port, [`GET ${path} HTTP/1.1`, 'Host: a'])

test('uploads that stop before their last byte hold no slot', async () => {
  const { port, admission, uploads } = await openPlainServer({ limit: 2 })
  const sockets = Array.from({ length: 8 }, () => openRawSocket(port, stalled))
  await awaitThat('all bodies have begun', () => uploads.heldBytes() >= 8 * complete.length)
  expect(admission.inFlight()).toBe(0)
  expect(await exchange(port, post(complete.length, complete).split('\r\n').slice(0, -2), complete)).toMatch(
    /^HTTP\/1\.1 503 .*ENDPOINT_UNAVAILABLE/s,
  )
  for (const { socket } of sockets) socket.destroy()
  await awaitThat('nothing is held', () => uploads.heldBytes() === 0)
})

test('a body that does not arrive in time is answered 408, and its connection is closed', async () => {
  const clock = steppedClock()
  const { port } = await openPlainServer({ clock })
  const { closed } = openRawSocket(port, stalled)
  void clock.step()
  expect(await closed).toMatch(/^HTTP\/1\.1 408 .*connection: close.*REQUEST_TIMEOUT/is)
})

test('the oldest upload makes room when all uploads together hold too much', async () => {
  const { port, uploads } = await openPlainServer({ uploadLimits: { bytesMax: 1_000, bytesPerAddressMax: 2_000 } })
  const first = openRawSocket(port, post(400, 'x'.repeat(300)))
  await awaitThat('the first has begun', () => uploads.heldBytes() > 300)
  const second = openRawSocket(port, post(400, 'x'.repeat(300)))
  await awaitThat('the first is refused', () => first.received().includes('OVERLOADED'))
  expect(uploads.heldBytes()).toBeLessThan(1_000)
  second.socket.write('x'.repeat(100))
  await awaitThat('the second is read', () => second.received().includes('INVALID_REQUEST'))
  first.socket.destroy()
  second.socket.destroy()
})

test('an address that uploads too much is refused, and its older uploads go on', async () => {
  const { port, uploads } = await openPlainServer({ uploadLimits: { bytesMax: 2_000, bytesPerAddressMax: 1_000 } })
  const first = openRawSocket(port, post(400, 'x'.repeat(300)))
  await awaitThat('the first has begun', () => uploads.heldBytes() > 300)
  const second = openRawSocket(port, post(400, 'x'.repeat(300)))
  await awaitThat('the second is refused', () => second.received().includes('OVERLOADED'))
  first.socket.write('x'.repeat(100))
  await awaitThat('the first is read', () => first.received().includes('INVALID_REQUEST'))
  first.socket.destroy()
  second.socket.destroy()
})

test('pipelined requests are served one after the other', async () => {
  let running = 0
  let most = 0
  const slow = {
    path: '/slow',
    async serve() {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return { status: 200, headers: {}, body: 'slow' }
    },
  }
  const { port } = await openPlainServer({ freeRoutes: [slow] })
  const pipe = openRawSocket(port, get('/slow').repeat(6))
  await awaitThat('six answers', () => pipe.received().split('HTTP/1.1 200').length === 7)
  expect(most).toBe(1)
  pipe.socket.destroy()
})

test('pipelined requests beyond the one in progress wait unparsed', async () => {
  const isOpen = Promise.withResolvers<void>()
  const slow = { path: '/slow', serve: () => isOpen.promise.then(() => ({ status: 200, headers: {}, body: 'slow' })) }
  let parsed = 0
  const { port, admission } = await openPlainServer({ freeRoutes: [slow], onRequest: () => parsed++ })
  const pipe = openRawSocket(port, get('/slow') + get('/free').repeat(2_000))
  await awaitThat('one request is in progress', () => admission.inFlight() === 1)
  // An answer on another connection shows that the server has read on.
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 /)
  expect(parsed).toBeLessThan(40)
  isOpen.resolve()
  await awaitThat('all are answered', () => pipe.received().split('HTTP/1.1 200').length === 2_002)
  pipe.socket.destroy()
})

test.each([
  ['with a length', [`Content-Length: ${complete.length}`], complete],
  ['in chunks', ['Transfer-Encoding: chunked'], `${complete.length.toString(16)}\r\n${complete}\r\n0\r\n\r\n`],
])('a body %s that is followed by other requests is read to its end', async (_, framing, body) => {
  const { port } = await openPlainServer()
  const head = ['POST /order HTTP/1.1', 'Host: a', 'Test: payer', 'Content-Type: application/json', ...framing, '', '']
  const pipe = openRawSocket(port, (head.join('\r\n') + body + get('/free')).repeat(30))
  await awaitThat('all are answered', () => pipe.received().split('HTTP/1.1 ').length === 61)
  expect(pipe.received().split('ENDPOINT_UNAVAILABLE').length).toBe(31)
  pipe.socket.destroy()
})

const large = { path: '/large', serve: () => Promise.resolve({ status: 200, headers: {}, body: 'x'.repeat(8e6) }) }

test('a connection that reads nothing of its answer is closed', async () => {
  let parsed = 0
  const { port, connections } = await openPlainServer({
    freeRoutes: [large],
    unreadLimits: { idleMs: 50, bytesMax: 1e9 },
    onRequest: () => parsed++,
  })
  const { socket } = openRawSocket(port, get('/large').repeat(10))
  socket.pause()
  await awaitThat('it was open, and is closed', () => parsed > 0 && connections.count() === 0)
  socket.destroy()
})

test('all unread answers together are bounded: the one that has waited longest is closed', async () => {
  const { port, connections } = await openPlainServer({
    freeRoutes: [large],
    unreadLimits: { idleMs: 60_000, bytesMax: 12e6 },
  })
  const sockets = [1, 2].map(() => openRawSocket(port, get('/large')).socket.pause())
  await awaitThat('one of two is left', () => connections.count() === 1)
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 /)
  for (const socket of sockets) socket.destroy()
})

test('an address has a number of connections, and others have theirs', async () => {
  const { port, connections } = await openPlainServer({
    connectionLimits: { connectionsMax: 100, connectionsPerAddressMax: 3 },
  })
  const greedy = Array.from({ length: 5 }, () => openRawSocket(port, '', '127.0.0.2'))
  await Promise.race(greedy.map(({ closed }) => closed))
  await awaitThat('three are open', () => connections.count() === 3)
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 /)
  for (const { socket } of greedy) socket.destroy()
})

test('when all connections are taken, the one that has been idle longest makes room for a new one', async () => {
  const { port, connections } = await openPlainServer({
    connectionLimits: { connectionsMax: 2, connectionsPerAddressMax: Infinity },
  })
  const oldest = openRawSocket(port, '')
  await awaitThat('one is open', () => connections.count() === 1)
  const other = openRawSocket(port, '')
  await awaitThat('two are open', () => connections.count() === 2)
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 /)
  await oldest.closed
  other.socket.destroy()
})

test('other connections are served between pipelined requests', async () => {
  const order: string[] = []
  const free = (path: string) => ({
    path,
    serve: () => {
      order.push(path)
      return Promise.resolve({ status: 200, headers: {}, body: path })
    },
  })
  const { port } = await openPlainServer({ freeRoutes: [free('/many'), free('/one')] })
  const pipe = openRawSocket(port, get('/many').repeat(1_000))
  await awaitThat('the pipeline has begun', () => order.length > 0)
  await ask(port, '/one')
  expect(order.indexOf('/one')).toBeLessThan(1_000)
  pipe.socket.destroy()
})

test('a connection of an address that is turned away is held without reading, and others are served', async () => {
  let parsed = 0
  const { port, connections } = await openPlainServer({
    turnsAway: (address) => address === '127.0.0.2',
    onRequest: () => parsed++,
  })
  const parked = openRawSocket(port, get('/free'), '127.0.0.2')
  await awaitThat('it is open', () => connections.count() === 1)
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 /)
  expect([parsed, parked.received(), connections.count()]).toEqual([1, '', 1])
  parked.socket.destroy()
})

test('a connection whose request was refused because of load rests before its next request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  // Also when this test fails: the next ones would wait until they time out.
  onTestFinished(() => void vi.useRealTimers())
  const restSeconds = (address: string) => (address === '127.0.0.2' ? 5 : 0)
  const { port } = await openPlainServer({ restSeconds, rests: true })
  const refused = openRawSocket(port, get('/free').repeat(2), '127.0.0.2')
  const answers = () => refused.received().match(/HTTP\/1\.1 503 /g)?.length ?? 0
  await once(refused.socket, 'data')
  vi.advanceTimersByTime(4_999)
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 /)
  expect(answers()).toBe(1)
  vi.advanceTimersByTime(1)
  await once(refused.socket, 'data')
  expect(answers()).toBe(2)
  refused.socket.destroy()
})

test('a connection that its client has reset before it was accepted is not served', async () => {
  const accepted = Promise.withResolvers<Socket>()
  const server = createServer({ pauseOnConnect: true }, accepted.resolve).listen(0, '127.0.0.1')
  afterFile(() => Promise.resolve(void server.close()))
  await once(server, 'listening')
  const client = connect(portOf(server), '127.0.0.1')
  client.write(get('/free'))
  const socket = await accepted.promise
  client.resetAndDestroy()
  await once(client, 'close')
  const judge = { turnsAway: () => false, restSeconds: () => 0 }
  const connections = createConnections({ connectionsMax: 1, connectionsPerAddressMax: 1 }, judge)
  expect([connections.take(socket), connections.count()]).toEqual([false, 0])
})

test('a shutdown does not wait for connections that are left unread', async () => {
  const accepted = Promise.withResolvers<Socket>()
  const takes = (socket: Socket) => {
    accepted.resolve(socket.pause())
    return false
  }
  const listener = await listen(() => undefined, { host: '127.0.0.1', port: 0, takes })
  const client = openRawSocket(listener.port, get('/free'))
  const parked = await accepted.promise
  afterFile(() => void parked.destroy())
  await listener.drain({ timeoutMs: 0, clock: systemClock, inFlight: () => 0 })
  await client.closed
})

test('when several connections arrive in one turn of the event loop, each closes another idle one', async () => {
  const accepted: Socket[] = []
  const server = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1')
  afterFile(() => Promise.resolve(void server.close()))
  await once(server, 'listening')
  const clients = Array.from({ length: 6 }, () => connect(portOf(server), '127.0.0.1').on('error', () => undefined))
  await awaitThat('all are accepted', () => accepted.length === clients.length)
  const judge = { turnsAway: () => false, restSeconds: () => 0 }
  const connections = createConnections({ connectionsMax: 3, connectionsPerAddressMax: Infinity }, judge)
  expect(accepted.map((socket) => connections.take(socket))).toEqual(Array.from({ length: 6 }, () => true))
  expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true, true, true, false, false, false])
  await awaitThat('three are open', () => connections.count() === 3)
  for (const client of clients) client.destroy()
})

test.each([
  ['junk', 'junk\r\n\r\n'],
  ['CONNECT', ['CONNECT a:1 HTTP/1.1', 'Host: a', '', ''].join('\r\n')],
])(
  'a connection that began with %s is closed soon, although its client sends on and does not end it',
  async (_, head) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { port, connections } = await openPlainServer()
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
    afterFile(() => void socket.destroy())
    socket.write(head)
    await once(socket, 'data')
    socket.write(Buffer.alloc(100_000))
    vi.advanceTimersByTime(2_000)
    vi.useRealTimers()
    await awaitThat('it is closed', () => connections.count() === 0)
  },
)

test('a connection that ended during its request is not the one that makes room', async () => {
  const { take, hold, release } = createConnections(
    { connectionsMax: 1, connectionsPerAddressMax: 9 },
    { turnsAway: () => false, restSeconds: () => 0 },
  )
  const open = () => Object.defineProperty(new Socket(), 'remoteAddress', { value: '192.0.2.1' })
  const [ended, waiting, next] = [open(), open(), open()]
  take(ended)
  hold(ended)
  ended.destroy()
  await once(ended, 'close')
  release(ended)
  expect([take(waiting), waiting.destroyed]).toEqual([true, false])
  expect([take(next), waiting.destroyed]).toEqual([true, true])
})

test('a connection whose client has sent too many requests rests for a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { port } = await openPlainServer({ requestsPerMinute: 1, rests: true })
  const pipe = openRawSocket(port, get('/free').repeat(3))
  const answers = () =>
    pipe
      .received()
      .match(/HTTP\/1\.1 \d+/g)
      ?.map((line) => line.slice(-3)) ?? []
  while (answers().length < 2) await once(pipe.socket, 'data')
  vi.advanceTimersByTime(999)
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 429 /)
  expect(answers()).toEqual(['200', '429'])
  vi.advanceTimersByTime(1)
  await once(pipe.socket, 'data')
  expect(answers()).toEqual(['200', '429', '429'])
  pipe.socket.destroy()
})

test('while the service ends, each answer closes its connection', async () => {
  let isDraining = false
  const { port } = await openPlainServer({ isDraining: () => isDraining })
  const first = openRawSocket(port, get('/free'))
  await awaitThat('it is answered', () => first.received().endsWith('free'))
  isDraining = true
  first.socket.write(get('/free'))
  expect(await first.closed).toMatch(/connection: close/i)
})
