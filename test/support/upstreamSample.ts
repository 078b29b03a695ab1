import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { UpstreamFailure } from '../../src/product/upstreamFailure.ts'
import { type Answering, json, text } from './loopbackProvider.ts'

const envelope = z.object({
  request: z.object({ url: z.url(), headers: z.record(z.string(), z.string()).optional() }),
  response: z.object({
    status: z.number(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown().optional(),
    bodyText: z.string().optional(),
  }),
  expect: z.record(z.string(), z.unknown()),
})

export type UpstreamSample = z.infer<typeof envelope>

/** The moment of the samples, a little after the last of their times. */
export const sampleTimeMs = Date.parse('2026-11-20T12:49:25Z')

export function readSample(name: string): UpstreamSample {
  const file = new URL(`../fixtures/upstreams/${name}.json`, import.meta.url)
  return envelope.parse(JSON.parse(readFileSync(file, 'utf8')))
}

/** The sample's response, with a change to its body. */
export function sampleAnswer(name: string, change: (body: unknown) => unknown = (body) => body): Answering {
  const { status, headers, body, bodyText } = readSample(name).response
  return bodyText === undefined
    ? json(change(body), { status, headers })
    : text(String(change(bodyText)), { status, headers })
}

/** A body with one of its fields set to something else, by the path to it; undefined takes the field away. */
export function withField(path: readonly (string | number)[], value: unknown) {
  return (body: unknown): unknown => {
    const [key, ...rest] = path
    if (key === undefined) return value
    if (Array.isArray(body))
      return body.map((item: unknown, index) => (index === key ? withField(rest, value)(item) : item))
    const fields = Object.entries(typeof body === 'object' && body !== null ? body : {})
    const old = fields.find(([name]) => name === key)?.[1]
    return Object.fromEntries([...fields.filter(([name]) => name !== key), [key, withField(rest, value)(old)]])
  }
}

/** Data that the sample expects from an adapter, without the time, which is not part of the data. */
export function okOf(name: string): Record<string, unknown> {
  const ok = assertPresent(readSample(name).expect['ok'], 'the sample is of a success')
  const { asOf: _asOf, currency: _currency, note: _note, ...data } = z.record(z.string(), z.unknown()).parse(ok)
  return data
}

/** The kind of failure, or what was answered. */
export async function kindOf(asking: Promise<unknown> | undefined): Promise<string> {
  try {
    return `answered ${JSON.stringify(await asking)}`
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.kind
    throw error
  }
}

/** Possible failures of any provider. */
export const errorBodies: readonly [what: string, answering: Answering, kind: string][] = [
  ['a page', text('<!doctype html><title>Just a moment</title>'), 'bad_payload'],
  ['nothing', text(''), 'bad_payload'],
  ['null', json(null), 'bad_payload'],
  ['half a text', text('[{"id":"bitcoin","symb'), 'bad_payload'],
  ['another shape', json({ coins: 'all of them' }), 'bad_payload'],
  ['401', json({ error: 'key' }, { status: 401 }), 'auth'],
  ['402', json({ error: 'quota' }, { status: 402 }), 'auth'],
  ['451', text('not in your region', { status: 451 }), 'blocked'],
  ['429', text('slow down', { status: 429 }), 'rate_limited'],
  ['500', text('broken', { status: 500 }), 'upstream'],
  ['503 as a page', text('<html>', { status: 503 }), 'upstream'],
  ['a page under 404', text('<html>no such path</html>', { status: 404 }), 'bad_payload'],
]
