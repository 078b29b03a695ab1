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
