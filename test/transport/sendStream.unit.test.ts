import { once } from 'node:events'
import { connect } from 'node:net'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { onceSent, sendStream } from '../../src/transport/send.ts'
import { listen } from '../../src/transport/server.ts'
import { afterFile } from '../support/afterFile.ts'

async function serveChunks(chunks: () => AsyncGenerator<Uint8Array>, clock = systemClock, contentType = 'text/plain') {
  const ends: string[] = []
  const app = new Koa()
  app.on('error', () => undefined)
  app.use((context, next) => next().catch((error: Error) => void (context.body = error.message)))
  app.use(async (context) => {
    onceSent(context, () => ends.push('sent'))
    await sendStream({ clock, log: silentLog }, context, {
      status: 200,
      headers: { 'content-type': contentType, trailer: 'x-end' },
      chunks: chunks(),
      trailers: () => ({ 'x-end': 'the end' }),
      dispatch: () => undefined,
      callerWaitMaxMs: 1_000,
    })
    ends.push('ended')
  })
  const listener = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
  afterFile(() => listener.drain({ timeoutMs: 0, clock: systemClock, inFlight: () => 0 }))
  return { port: listener.port, ends }
}

/** Sends a request and returns what arrives until the end, and whether the connection was reset. */
async function ask(port: number, version: string) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let received = ''
  socket.on('data', (text: string) => (received += text)).on('error', () => undefined)
  socket.write(`GET / HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`)
  const isReset = await once(socket, 'close').then(
    () => false,
    () => true,
  )
  return { received, isReset }
}

test('a stream ends with its trailers, and is sent once the system has taken it', async () => {
  const { port, ends } = await serveChunks(async function* () {
    yield Buffer.from('one')
    yield Buffer.from('two')
  })
  const { received } = await ask(port, '1.1')
  expect(received).toMatch(/3\r\none\r\n3\r\ntwo\r\n0\r\nx-end: the end\r\n\r\n$/)
  expect(ends).toEqual(['sent', 'ended'])
})

test('a stream reaches a caller of HTTP/1.0, such as a proxy, without trailers', async () => {
  const { port, ends } = await serveChunks(async function* () {
    yield Buffer.from('one')
    yield Buffer.from('two')
  })
  const { received, isReset } = await ask(port, '1.0')
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n(?!.*trailer).*\r\n\r\nonetwo$/is)
  expect([isReset, ends]).toEqual([false, ['sent', 'ended']])
})

test('a stream whose headers cannot be sent is answered as an error, so that no caller waits for it', async () => {
  const { port } = await serveChunks(async function* () {}, systemClock, 'text/plain\r\n')
  expect((await ask(port, '1.1')).received).toContain('Invalid character in header content')
})

test('a stream that breaks is not taken for a whole one, in HTTP/1.1 and in HTTP/1.0', async () => {
  const { port, ends } = await serveChunks(async function* () {
    yield Buffer.from('one')
    await new Promise(setImmediate)
    throw new Error('the provider broke off')
  })
  const chunked = await ask(port, '1.1')
  expect(chunked.received).toContain('one')
  expect(chunked.received).not.toContain('\r\n0\r\n')
  expect((await ask(port, '1.0')).isReset).toBe(true)
  expect(ends).toEqual(['ended', 'ended'])
})

test('the time in which a caller does not read is counted over the whole answer', async () => {
  const waits: number[] = []
  let monotonicMs = 0
  const sleep = (durationMs: number) => {
    waits.push(durationMs)
    monotonicMs += 600
    return new Promise<void>(() => undefined)
  }
  const { port } = await serveChunks(
    async function* () {
      for (let n = 0; n < 3; n++) yield Buffer.alloc(4_000_000)
    },
    { ...systemClock, monotonicMs: () => monotonicMs, sleep },
  )
  expect((await ask(port, '1.1')).received.length).toBeGreaterThan(12_000_000)
  expect(waits.slice(0, 3)).toEqual([1_000, 400, 0])
})
