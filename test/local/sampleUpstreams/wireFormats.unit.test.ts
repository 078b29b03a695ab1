import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openHeldSamples, originOf } from './heldSamples.ts'

/*
 * Each fixture's question, put to the sample server of its provider: the answer has the fixture's status and type, and
 * no member that the fixture lacks or has with another kind of value. adapters.unit.test.ts shows that it has all that
 * is read.
 */

const fixtures = new URL('../../fixtures/upstreams/', import.meta.url)

const fixtureJson = z.object({
  request: z.object({
    method: z.string(),
    url: z.url(),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  response: z.object({
    status: z.int(),
    headers: z.object({ 'content-type': z.string() }).loose(),
    body: z.unknown().optional(),
  }),
})

const samples = await openHeldSamples()

/** Returns the first part of the settings of a folder's provider. */
const settingOf = (folder: string) => folder.replaceAll('-', '_').toUpperCase()

/** Limits are not sampled, so that no test waits for a sample. */
const isLimit = (file: string) => file.includes('429')

const cases = readdirSync(fixtures, { withFileTypes: true })
  .filter((folder) => folder.isDirectory() && settingOf(folder.name) in samples.upstreams)
  .flatMap(({ name }) =>
    readdirSync(new URL(`${name}/`, fixtures))
      .filter((file) => file.endsWith('.json') && !isLimit(file))
      .map((file) => `${name}/${file}`),
  )

/** The geocoder of Open-Meteo has its fixtures in the folder of Open-Meteo. */
function providerOf(file: string): string {
  return file.includes('geocode') ? 'OPEN_METEO_GEOCODING' : settingOf(file.split('/')[0] ?? '')
}

async function askLike(file: string) {
  const { request, response } = fixtureJson.parse(JSON.parse(readFileSync(new URL(file, fixtures), 'utf8')))
  const { pathname, search } = new URL(request.url)
  const provider = providerOf(file)
  const answer = await fetch(`${originOf(samples, provider)}${pathname}${search}`, { headers: request.headers })
  return { response, answer }
}

test.each(cases)('the sample for %s has its status and type, and only members of its kinds', async (file) => {
  const { response, answer } = await askLike(file)
  expect(answer.status).toBe(response.status)
  expect(typeOf(answer.headers.get('content-type'))).toBe(typeOf(response.headers['content-type']))
  expect(differences(response.body, await answer.json())).toEqual([])
})

test('every provider with a sample has fixtures in the folder with its name', () => {
  expect(new Set(cases.map(providerOf))).toEqual(new Set(Object.keys(samples.upstreams)))
})

describe('the comparison itself', () => {
  test('sees an unexpected key and another kind of value, however deep', () => {
    expect(differences({ a: [{ b: 1 }, { c: null }] }, { a: [{ b: 'x', d: 1 }] })).toEqual([
      '.a[].b is string, not number',
      '.a[].d is not in the fixture',
    ])
    expect(differences({ a: 1, b: null }, { a: null, b: 'text' })).toEqual([])
  })
})

function typeOf(contentType: string | null): string {
  return (contentType ?? '').split(';')[0] ?? ''
}

type Kinds = ReadonlyMap<string, string>

function differences(fixture: unknown, sample: unknown): readonly string[] {
  const [wanted, found] = [kindsOf(fixture), kindsOf(sample)]
  return [...found].flatMap(([path, kind]) => {
    const other = wanted.get(path)
    if (other === undefined) return isUnderNull(wanted, path) ? [] : [`${path} is not in the fixture`]
    return kind === other || kind === 'null' || other === 'null' ? [] : [`${path} is ${kind}, not ${other}`]
  })
}

function isUnderNull(kinds: Kinds, path: string): boolean {
  return [...kinds].some(([other, kind]) => kind === 'null' && path.startsWith(`${other}.`))
}

/** Every path of a value with its content; the elements of a list count as one. */
function kindsOf(value: unknown, path = '', kinds = new Map<string, string>()): Kinds {
  if (Array.isArray(value)) for (const element of value) kindsOf(element, `${path}[]`, kinds)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) kindsOf(inner, `${path}.${key}`, kinds)
  else if (value !== null || !kinds.has(path)) kinds.set(path, value === null ? 'null' : typeof value)
  return kinds
}
