import { describe, expect, test } from 'vitest'
import {
  attempt,
  blockTimeMs,
  claimed,
  fulfilled,
  listed,
  price,
  required,
  type ReplayedLedger,
  split,
  wallet,
} from './replayedLedger.ts'
import {
  hourMs,
  endpoint,
  deposit,
  tab,
  stream,
  depositOf,
  terms,
  buyDeposit,
  openTab,
  debited,
  captured,
  failed,
  returned,
  debit,
  capture,
} from './replayedTab.ts'

/* Deposits and days of tabs that an honest service never records, and those at the edge of what it records. */

const { mint } = price

describe('the charges of a day', () => {
  const dayMs = 24 * hourMs
  const limited = () => openTab({ terms: { maxPerDayBaseUnits: String(required), endsAtMs: blockTimeMs + 3 * dayMs } })
  const charge = (number: number, ledger: ReplayedLedger, { from, to = from }: { from: number; to?: number }) =>
    ledger
      .append(`${stream}:${number}`, ['TabDebited', { ...debited, number: String(number) }, from])
      .append(`${stream}:${number}`, ['TabCaptured', captured, to])
  const midnightMs = Date.parse('2026-11-22T00:00:00.000Z')

  test('may be as much as the tab permits, each day', () => {
    const ledger = charge(2, charge(1, limited(), { from: midnightMs - 1 }), { from: midnightMs })
    expect(ledger.findings()).toEqual([])
  })

  test('beyond the limit are found, also if the answer came a day later', () => {
    const ledger = charge(2, charge(1, limited(), { from: midnightMs - 2 }), { from: midnightMs - 1, to: midnightMs })
    expect(ledger.codes()).toEqual(['payment_short'])
  })

  test('may exceed the limit by holds of the day before that returned', () => {
    const held = debit({}, limited(), midnightMs - 1)
    const ledger = held.append(
      `${stream}:1`,
      ['RequestFailed', failed, midnightMs],
      ['TabReturned', returned, midnightMs],
    )
    expect(charge(3, charge(2, ledger, { from: midnightMs }), { from: midnightMs + 1 }).findings()).toEqual([])
  })
})

test.each([
  [2, []],
  [4, ['price_not_published']],
])('a debit at a price list that was replaced %i days before', (days, codes) => {
  const dayMs = 24 * hourMs
  const ledger = openTab({ terms: { endsAtMs: blockTimeMs + 9 * dayMs } })
  const list = { source: 'market', split, prices: [{ ...price, endpoint: '/api/data/other' }] }
  ledger.append('prices#2', ['PriceListPublished', list]).wait(days * dayMs)
  expect(debit({}, ledger, blockTimeMs + days * dayMs).codes()).toEqual(codes)
})

test('a debit that is recorded long after its time is found', () => {
  const late = (ms: number) => debit({}, openTab().wait(hourMs + ms), blockTimeMs)
  expect(capture({}, late(300_000)).findings()).toEqual([])
  expect(late(400_000).codes()).toEqual(['lifecycle_impossible'])
})

test('a deposit whose payment moved to another slot before the tab was opened keeps the slot of its debits', () => {
  const { requiredBaseUnits: whole } = depositOf(price)
  const exposure = { mint, exposedBaseUnits: whole }
  const ledger = buyDeposit(listed({ prices: [price, depositOf(price)] }), price)
    .append(deposit, ['RequestFailed', { ...attempt, reason: 'internal_error', ...exposure }])
    .append(deposit, ['PaymentFinalized', { mint, exposedBaseUnits: '0', slot: 105 }])
    .append(deposit, ['ProofClaimed', { ...claimed, endpoint, attempt: 2, exposedBaseUnits: '0' }])
  const opened = { tab, mint, wallet, depositBaseUnits: whole, terms }
  ledger.append(deposit, ['RequestFulfilled', { ...fulfilled, attempt: 2 }], ['TabOpened', opened])
  expect(capture({}, debit({}, ledger)).findings()).toEqual([])
})

test('a deposit is never divided as shares, which the operator could pay to itself', () => {
  const { shares: parts } = depositOf(price)
  const ledger = buyDeposit(listed({ prices: [price, depositOf(price)] }), price)
  ledger.append(deposit, ['RequestFulfilled', fulfilled], ['DistributionAllocated', { mint, parts }])
  expect(ledger.codes()).toContain('lifecycle_impossible')
})
