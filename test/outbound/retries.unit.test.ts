import { expect, test } from 'vitest'
import { createUpstream } from '../../src/outbound/upstream.ts'
import { json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'

const server = await startLoopbackProvider()

test('a second try is not sent if other requests have used up the pace during its pause', async () => {
  const { upstreamDeps } = openProviderFixture()
  const read = () => 'read'
  const clock = {
    ...upstreamDeps.clock,
    async sleep() {
      server.answer(json([]))
      await upstream.ask({ path: '/others' }, read)
    },
  }
  const pace = { requests: 2, perSeconds: 60 }
  const upstream = createUpstream({ ...upstreamDeps, clock }, { name: 'sample', base: new URL(server.url), pace })
  server.answer(text('down', { status: 502 }))
  await expect(upstream.ask({ path: '/price' }, read)).rejects.toThrow('HTTP 502')
  expect(server.asked.map(({ url }) => url.pathname)).toEqual(['/price', '/others'])
})

test('a stream counts against the pace', async () => {
  const { upstreamDeps } = openProviderFixture()
  const pace = { requests: 1, perSeconds: 60 }
  const upstream = createUpstream(upstreamDeps, { name: 'sample', base: new URL(server.url), pace })
  server.answer(text('whole'))
  const read = async function* (body: AsyncIterable<Uint8Array>) {
    yield* body
  }
  for await (const chunk of upstream.stream({ path: '/' }, { read, refuse: () => undefined }))
    expect(Buffer.from(chunk).toString()).toBe('whole')
  expect(upstream.whyResting()).toMatch(/as often as it allows/)
})

test('a stream whose reader ends while its server is silent closes the connection', async () => {
  const { upstreamDeps } = openProviderFixture()
  const upstream = createUpstream(upstreamDeps, { name: 'sample', base: new URL(server.url) })
  const closed = new Promise<void>((resolve) => {
    server.answer((response) => response.on('close', resolve).write('begun'))
  })
  const read = async function* (body: AsyncIterable<Uint8Array>) {
    const chunks = body[Symbol.asyncIterator]()
    yield await chunks.next()
    // This read is pending when the reader ends.
    chunks.next().catch(() => undefined)
  }
  for await (const { done } of upstream.stream({ path: '/' }, { read, refuse: () => undefined }))
    expect(done).toBe(false)
  await closed
})

test('the longer of the pauses in the header and in the body of a 429 is kept', async () => {
  const { upstreamDeps, clock } = openProviderFixture()
  const upstream = createUpstream(upstreamDeps, { name: 'sample', base: new URL(server.url), pauseMs: () => 60_000 })
  server.answer(text('', { status: 429, headers: { 'retry-after': '10' } }))
  await expect(upstream.ask({ path: '/' }, () => undefined)).rejects.toMatchObject({ retryAfterMs: 60_000 })
  clock.forward(59_000)
  expect(upstream.whyResting()).toBeDefined()
})

test('a header of the request replaces that of the provider, which replaces ours', async () => {
  const { upstreamDeps } = openProviderFixture()
  const headers = { 'user-agent': 'browser', accept: 'text/html', 'x-key': 'k' }
  const upstream = createUpstream(upstreamDeps, { name: 'sample', base: new URL(server.url), headers })
  server.answer(json([]))
  await upstream.ask({ path: '/', headers: { accept: 'text/event-stream' } }, () => undefined)
  expect(server.asked.at(-1)?.headers).toMatchObject({ ...headers, accept: 'text/event-stream' })
})
