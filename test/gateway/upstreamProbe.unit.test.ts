import { describe, expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { upstreamShape } from '../../src/gateway/productsFile.ts'
import { openUpstreamClient } from '../../src/gateway/upstreamClient.ts'
import { silentLog } from '../../src/machine/log.ts'
import { UpstreamFailure } from '../../src/product/upstreamFailure.ts'
import { afterFile } from '../support/afterFile.ts'
import { answersText, openLoopbackServer } from '../support/loopbackServer.ts'

/* When an upstream counts as working: after a probe, and after requests of buyers. */

const api = await openLoopbackServer(answersText(200, ''))

function openClient(more: object = {}) {
  const entry = upstreamShape.parse({ url: `${api.url}/v1/`, headers: { 'x-api-key': 'key' }, ...more })
  const deps = { clock: systemClock, log: silentLog, version: '0', isProbed: true, onCall: () => undefined }
  const client = openUpstreamClient(deps, 'a', entry)
  afterFile(() => Promise.resolve(client.close()))
  return client
}

async function worksAt(status: number, more: object = {}): Promise<boolean> {
  const client = openClient(more)
  expect(client.whyUnavailable()).toContain('does not answer')
  api.script(answersText(status, '', { location: `${api.url}/elsewhere` }))
  await client.liveness.probe()
  return client.whyUnavailable() === undefined
}

test.each([
  [200, true],
  [404, true],
  [500, true],
  [502, false],
  [503, false],
  [504, false],
])('an upstream that answers HEAD with HTTP %i works: %s', async (status, works) => {
  expect(await worksAt(status)).toBe(works)
  expect(api.asked.at(-1)).toMatchObject({ method: 'HEAD', path: '/v1/', headers: { 'x-api-key': 'key' } })
})

test.each([
  [200, true],
  [204, true],
  [301, false],
  [404, false],
  [500, false],
])('an upstream whose health path answers HTTP %i works: %s', async (status, works) => {
  expect(await worksAt(status, { health: '/healthz' })).toBe(works)
  expect(api.asked.at(-1)).toMatchObject({ method: 'GET', path: '/v1/healthz' })
})

describe('a request of a buyer', () => {
  const signal = new AbortController().signal
  const request = { method: 'GET', target: '/x', headers: {}, signal, timeoutMs: 10_000, isIdempotent: false }

  test('that is answered shows that the upstream works, and one that fails makes a probe due', async () => {
    const client = openClient()
    api.script(answersText(200, ''))
    const sold = await client.open(request)
    expect(sold.end()).toBeUndefined()
    expect([client.whyUnavailable(), client.liveness.isDue()]).toEqual([undefined, false])

    const failed = await client.open(request)
    const failure = new UpstreamFailure('bad_payload', 'the answer is not valid JSON')
    expect([failed.end(failure), failed.end(failure)], 'the first call records the outcome').toEqual([
      failure,
      undefined,
    ])
    expect(client.liveness.isDue()).toBe(true)
  })
})
