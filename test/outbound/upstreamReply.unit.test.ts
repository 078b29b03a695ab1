import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { baseUrlOf, openUpstreamOf } from '../../src/outbound/publicUpstream.ts'
import { retryAfterMsOf } from '../../src/outbound/retryAfter.ts'
import { untilSilent } from '../../src/outbound/untilSilent.ts'
import type { UpstreamOptions } from '../../src/outbound/upstream.ts'
import { errorIn, parseJson, readableItems, refuseStatus } from '../../src/outbound/upstreamReply.ts'
import { isAllowedHost } from '../../src/outbound/urlGuard.ts'
import { UpstreamFailure } from '../../src/product/upstreamFailure.ts'
import { openProviderFixture } from '../support/providerFixture.ts'

const replyOf = (status: number, text = '') => ({ status, headers: new Headers(), text })

function kindOf(attempt: () => void): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    return error instanceof UpstreamFailure ? error.kind : String(error)
  }
}

test.each([
  [200, undefined],
  [299, undefined],
  [199, 'bad_payload'],
  [300, 'bad_payload'],
  [304, 'bad_payload'],
  [400, 'bad_payload'],
  [401, 'auth'],
  [402, 'auth'],
  [403, 'blocked'],
  [451, 'blocked'],
  [404, 'not_found'],
])('the status %i is %s', (status, kind) => {
  expect(kindOf(() => refuseStatus(replyOf(status)))).toBe(kind)
  expect(kindOf(() => refuseStatus(replyOf(status), 'bad_payload'))).toBe(status === 404 ? 'bad_payload' : kind)
})

test('an error is read from an object only, under any status, and broken JSON is a failure', () => {
  const shape = z.object({ error: z.string() })
  expect(errorIn(replyOf(200, ' {"error":"no"}'), shape)).toEqual({ error: 'no' })
  expect(errorIn(replyOf(500, '[{"error":"no"}]'), shape)).toBeUndefined()
  expect(errorIn(replyOf(200, '{"price":1}'), shape)).toBeUndefined()
  expect(kindOf(() => errorIn(replyOf(200, '{"error"'), shape))).toBe('bad_payload')
  expect(readableItems(z.number()).parse([1, 'two', 3])).toEqual([1, 3])
})

test('half of a surrogate pair is replaced, and a whole pair stays', () => {
  const text = String.raw`{"names":["a\uD800b","\ud83d\ude00"],"price":1}`
  expect(parseJson(replyOf(200, text))).toEqual({ names: ['a\ufffdb', '😀'], price: 1 })
})

test('a time to wait is in seconds or a date, and a date of the past means not to wait', () => {
  const clock = { ...systemClock, nowMs: () => Date.parse('2026-11-20T12:00:00Z') }
  const given = ['120', 'Fri, 20 Nov 2026 12:00:30 GMT', 'Fri, 20 Nov 2026 11:00:00 GMT', 'soon', null, undefined]
  expect(given.map((text) => retryAfterMsOf(text, clock))).toEqual([
    120_000,
    30_000,
    0,
    undefined,
    undefined,
    undefined,
  ])
})

test("an operator's address replaces the host, and the path if it has one, and is asked at its own pace", () => {
  const publicBase = 'https://api.example/v3'
  expect(baseUrlOf(undefined, publicBase).href).toBe(publicBase)
  expect(baseUrlOf({ apiKey: 'key' }, publicBase).href).toBe(publicBase)
  expect(baseUrlOf({ url: 'http://relay.example:81' }, publicBase).href).toBe('http://relay.example:81/v3')
  expect(baseUrlOf({ url: 'http://relay.example/x' }, publicBase).href).toBe('http://relay.example/x')
  const opened: UpstreamOptions[] = []
  const { deps } = openProviderFixture({ KRAKEN: { url: 'http://relay.example' }, JUPITER: { apiKey: 'key' } })
  const openUpstream = (options: UpstreamOptions) => {
    opened.push(options)
    return deps.openUpstream(options)
  }
  const options = { name: 'x', publicBase, pace: { requests: 1, perSeconds: 60 } }
  for (const name of ['KRAKEN', 'JUPITER'] as const) openUpstreamOf({ ...deps, openUpstream }, name, options)
  expect(opened.map(({ pace }) => pace)).toEqual([{ requests: 300, perSeconds: 60 }, options.pace])
})

test('an allowed host is reached at the ports of the web, or only at the port that is named', () => {
  const allowed = (port: number) =>
    ['a.example', 'b.example:8080', 'c.example:80', '[::1]:81'].map((entry) => {
      return isAllowedHost([entry], { hostname: entry.replace(/:\d+$/, ''), port })
    })
  expect(allowed(443)).toEqual([true, false, false, false])
  expect(allowed(80)).toEqual([true, false, true, false])
  expect(allowed(8080)).toEqual([false, true, false, false])
  expect(allowed(81)).toEqual([false, false, false, true])
  expect(isAllowedHost(['a.example'], { hostname: 'x.a.example', port: 80 })).toBe(false)
})

test('silence is the time without progress, over all items that are none, and without the time of the reader', async () => {
  let nowMs = 0
  const late = Promise.withResolvers<void>()
  const limits: number[] = []
  const clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    sleep(durationMs: number) {
      limits.push(durationMs)
      return late.promise
    },
  }
  async function* items() {
    for (const [waitMs, item] of [
      [400, 'text'],
      [300, ''],
      [300, ''],
      [100, 'text'],
    ] as const) {
      nowMs += waitMs
      yield item
    }
    await new Promise(() => undefined)
  }
  let isSilent = false
  const watch = {
    clock,
    limitMs: () => 1_000,
    isProgress: (item: string) => item !== '',
    onSilent: () => void (isSilent = true),
  }
  const read: string[] = []
  for await (const item of untilSilent(items(), watch)) {
    read.push(item)
    nowMs += 5_000
    if (read.length === 4) late.resolve()
  }
  expect(limits).toEqual([1_000, 1_000, 700, 400, 1_000])
  expect([read.length, isSilent]).toEqual([4, true])
})
