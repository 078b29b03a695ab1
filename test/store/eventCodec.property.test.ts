import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { decodeEvent, encodeEvent, schemaVersion } from '../../src/payment/eventCodec.ts'
import type { LedgerEvent } from '../../src/payment/events.ts'
import { anyEvent } from './arbitraryEvent.ts'

const anyHeader = fc.record({
  stream: fc.string(),
  version: fc.integer({ min: 1, max: 10_000 }),
  effectiveAtMs: fc.nat().map((seconds) => seconds * 1000 + 7),
})

test('any event and header are read back as they were written', () => {
  fc.assert(
    fc.property(anyEvent, anyHeader, (event, header) => {
      expect(decodeEvent(encodeEvent(event, header))).toStrictEqual({ ...header, event })
    }),
    { numRuns: 300 },
  )
})

test('one event has one spelling, whatever the order of its fields', () => {
  fc.assert(
    fc.property(anyEvent, anyHeader, (event, header) => {
      const reversed = Object.fromEntries(Object.entries(event).toReversed())
      expect(encodeEvent({ ...reversed, ...event }, header)).toBe(encodeEvent(event, header))
    }),
  )
})

// Bodies as the first release wrote them. They stand in ledgers for ever: this file is never edited, only added to.
const frozen = [...bodiesOf('fixtures/events-v1.json'), ...bodiesOf('fixtures/events-v1-life.json')]

function bodiesOf(file: string): readonly string[] {
  return z.array(z.string()).parse(JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')))
}

const kinds: Record<LedgerEvent['kind'], true> = {
  PaymentSubmitted: true,
  PaymentVerified: true,
  TokensBurned: true,
  ProofClaimed: true,
  RequestFulfilled: true,
  DistributionAllocated: true,
  RequestFailed: true,
  PaymentFinalized: true,
  PaymentReversed: true,
  RefundDue: true,
  TransferReceived: true,
  DistributionPaid: true,
  PriceListPublished: true,
}

test('there is a frozen body of schema version 1 for each kind of event', () => {
  const found = frozen.map(
    (body) => z.object({ kind: z.string(), schemaVersion: z.literal(1) }).parse(JSON.parse(body)).kind,
  )
  expect(found.toSorted()).toEqual(Object.keys(kinds).toSorted())
})

test('a price list with what the markets said is still read whole, and one without has no trace of it', () => {
  const [body = ''] = bodiesOf('fixtures/events-v1-evidence.json')
  const { event, ...header } = decodeEvent(body)
  expect(event).toMatchObject({
    evidence: {
      tokenPriceAttoUsd: 81_190_311_700_000n,
      readings: [{ liquidityUsd: 128_009n }, { liquidityUsd: 96_213n }, { liquidityUsd: undefined }],
    },
  })
  expect(encodeEvent(event, header)).toBe(body)
  const without = frozen.map((old) => decodeEvent(old).event).filter((old) => 'evidence' in old)
  expect(without).toEqual([])
})

test.each(frozen.map((body) => [String(JSON.parse(body).kind), body] as const))(
  'the frozen %s of schema version 1 is still read, and as long as that is the newest, still written the same',
  (kind, body) => {
    const { event, ...header } = decodeEvent(body)
    expect(event.kind).toBe(kind)
    if (schemaVersion === 1) expect(encodeEvent(event, header)).toBe(body)
  },
)

test.each([
  ['of an unknown schema version', (body: string) => body.replace('"schemaVersion":1', '"schemaVersion":99')],
  ['of an unknown kind', (body: string) => body.replace('"kind":"', '"kind":"Un')],
  ['cut short', (body: string) => body.slice(0, -2)],
])('a body %s is not read as something else', (_, damage) => {
  for (const body of frozen) expect(() => decodeEvent(damage(body))).toThrow()
})
