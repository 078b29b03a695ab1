import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { createEventCodec, schemaVersion } from '../../src/payment/eventCodec.ts'
import { defineEvent } from '../../src/payment/events/eventDefinition.ts'
import { ledgerCodec, type LedgerEvent, ledgerEvents, paymentCodec } from '../../src/payment/events.ts'
import { anyEvent } from '../store/arbitraryEvent.ts'

const anyHeader = fc.record({
  stream: fc.string(),
  version: fc.integer({ min: 1, max: 10_000 }),
  effectiveAtMs: fc.nat().map((seconds) => seconds * 1000 + 7),
})

test('any event and header are read back as they were written', () => {
  fc.assert(
    fc.property(anyEvent, anyHeader, (event, header) => {
      const body = ledgerCodec.encode(event, header)
      const { event: read, ...readHeader } = ledgerCodec.decode(body)
      expect({ ...readHeader, event: read }).toStrictEqual({ ...header, event })
      // `toStrictEqual` does not see a member of the name __proto__.
      expect(ledgerCodec.encode(read, readHeader)).toBe(body)
    }),
    { numRuns: 300 },
  )
})

test('a value of a setting keeps a member of any name', () => {
  const value: Json = JSON.parse('{"__proto__":false,"a":[{"__proto__":{"constructor":1}}],"toString":"x"}')
  const validFrom = '2026-11-23T00:00:00.000Z'
  const changed: LedgerEvent = { kind: 'SettingChanged', name: 'split', number: 1, validFrom, value }
  const body = ledgerCodec.encode(changed, { stream: 'split#1', version: 1, effectiveAtMs: 0 })
  const { event, ...header } = ledgerCodec.decode(body)
  expect(ledgerCodec.encode(event, header)).toBe(body)
  expect(() => ledgerCodec.decode(body.replace(/,"value":.*,"version"/, ',"version"'))).toThrow(/value/)
})

test.each([
  [0, true],
  [18, true],
  [19, false],
  [-1, false],
])('a price of a token with %i decimals is readable: %s', (decimals, isReadable) => {
  const body = frozen.find((text) => text.includes('"decimals":6'))
  const changed = (body ?? '').replaceAll('"decimals":6', `"decimals":${decimals}`)
  if (isReadable) expect(ledgerCodec.decode(changed)).toBeDefined()
  else expect(() => ledgerCodec.decode(changed)).toThrow()
})

test('one event has one spelling, whatever the order of its fields', () => {
  fc.assert(
    fc.property(anyEvent, anyHeader, (event, header) => {
      const reversed = Object.fromEntries(Object.entries(event).toReversed())
      expect(ledgerCodec.encode({ ...reversed, ...event }, header)).toBe(ledgerCodec.encode(event, header))
    }),
  )
})

// Bodies as the first release writes them. Ledgers contain them permanently: this file is never edited, only added to.
const frozen = bodiesOf('fixtures/events-v1.json')

function bodiesOf(file: string): readonly string[] {
  return z.array(z.string()).parse(JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')))
}

test('there is a frozen body of schema version 1 for each kind of event', () => {
  const found = frozen.map(
    (body) => z.object({ kind: z.string(), schemaVersion: z.literal(1) }).parse(JSON.parse(body)).kind,
  )
  expect(new Set(found)).toEqual(new Set(ledgerCodec.kinds))
})

test('a price list with the answers of the markets is read whole', () => {
  const [body = ''] = bodiesOf('fixtures/events-v1-evidence.json')
  const { event, ...header } = ledgerCodec.decode(body)
  expect(event).toMatchObject({
    evidence: {
      tokenPriceAttoUsd: 81_190_311_700_000n,
      readings: [{ liquidityUsd: 128_009n }, { liquidityUsd: 96_213n }, { liquidityUsd: undefined }],
    },
  })
  expect(ledgerCodec.encode(event, header)).toBe(body)
})

test.each(frozen.map((body) => [String(JSON.parse(body).kind), body] as const))(
  'the frozen %s of schema version 1 is still read, and as long as that is the newest, still written the same',
  (kind, body) => {
    const { event, ...header } = ledgerCodec.decode(body)
    expect(event.kind).toBe(kind)
    if (schemaVersion === 1) expect(ledgerCodec.encode(event, header)).toBe(body)
  },
)

test.each([
  ['of an unknown schema version', (body: string) => body.replace('"schemaVersion":1', '"schemaVersion":99')],
  ['of an unknown kind', (body: string) => body.replace('"kind":"', '"kind":"Un')],
  ['cut short', (body: string) => body.slice(0, -2)],
])('a body %s is not read as something else', (_, damage) => {
  for (const body of frozen) expect(() => ledgerCodec.decode(damage(body))).toThrow()
})

test('a codec is made of definitions, each kind once, and reads no other kind', () => {
  expect(() => createEventCodec<LedgerEvent>([...ledgerEvents, ...ledgerEvents])).toThrow(/defined once/)
  const paid = frozen.find((body) => body.includes('"kind":"DistributionPaid"')) ?? ''
  expect(() => paymentCodec.decode(paid)).toThrow(/DistributionPaid/)
})

interface TierChanged {
  readonly kind: 'TierChanged'
  readonly tier: number
}

const tierChanged = defineEvent<TierChanged>(z.object({ kind: z.literal('TierChanged'), tier: z.int() }))

test('a new kind of event is one definition more', () => {
  const codec = createEventCodec<LedgerEvent | TierChanged>([...ledgerEvents, tierChanged])
  const header = { stream: 'tier#1', version: 1, effectiveAtMs: 0 }
  const body = codec.encode({ kind: 'TierChanged', tier: 3 }, header)
  expect(codec.decode(body)).toEqual({ ...header, event: { kind: 'TierChanged', tier: 3 } })
  expect(codec.postingsOf({ kind: 'TierChanged', tier: 3 })).toEqual([])
  for (const old of frozen) expect(codec.decode(old)).toEqual(ledgerCodec.decode(old))
})
