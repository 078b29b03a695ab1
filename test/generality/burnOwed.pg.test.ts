import { expect, test } from 'vitest'
import { assert, assertPresent } from '@tollbook/core/assert'
import { decideBurnConfirm, decideBurnSubmit, evolveBurn, unknownBurn } from '../../src/payment/burn.ts'
import { createEventCodec } from '../../src/payment/eventCodec.ts'
import type { BurnEvent } from '../../src/payment/events.ts'
import { burnEvents } from '../../src/payment/events/burnEvents.ts'
import { decideFinality } from '../../src/payment/finality.ts'
import type { PaymentReference } from '../../src/payment/paymentReference.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { findBroken } from '../kernel/checkLedger.ts'
import { openPool } from '../kernel/openKernel.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import {
  claimOf,
  fulfilmentOf,
  sampleMint,
  samplePrice,
  sampleReference,
  sampleSettlement,
} from '../store/samplePayment.ts'
import { findBurnOf } from '../../src/reports/burnOfPayment.ts'
import { createTestDatabase } from '../support/database.ts'

/* A payer who sends the whole price and burns nothing, as stock x402 clients do: we owe the burn, and make it later. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const admin = openPool(adminUrl, 2)
const codec = createEventCodec<BurnEvent>(burnEvents)
const endpoint = '/api/data/weather'
const effectiveAtMs = Date.parse('2026-11-22T05:00:00.000Z')

function wholePrice(): Settlement {
  const price = samplePrice(endpoint, 1_000n)
  return sampleSettlement({ price, burnedBaseUnits: 0n, receivedBaseUnits: 1_000n })
}

async function balances(): Promise<Readonly<Record<string, bigint>>> {
  const { rows } = await admin.query<{ name: string; balance: string }>(
    'select name, balance from ledger.accounts where mint = $1 and balance <> 0',
    [sampleMint],
  )
  return Object.fromEntries(rows.map(({ name, balance }) => [name, BigInt(balance)]))
}

/** Functions that the burner's login may call, and nothing else of the ledger. */
async function record(stream: PaymentReference, version: number, event: BurnEvent) {
  const body = Buffer.from(codec.encode(event, { stream, version, effectiveAtMs }), 'utf8')
  const { rows } = await admin.query<{ refusal: string | null; seq: number | null }>(
    'select refusal, seq from ledger.record_burn($1)',
    [body],
  )
  return assertPresent(rows[0], 'a burn is answered')
}

function round(number: number, burnBaseUnits: bigint, throughPosition: number) {
  const parts = [{ endpoint, baseUnits: burnBaseUnits }]
  const delegate = { allowanceBaseUnits: burnBaseUnits, lamports: 50_000n }
  const bytes = { lastValidHeight: 900, delegate, transactionBase64: 'AQ==' }
  const submit = { round: number, mint: sampleMint, throughPosition, parts, ...bytes }
  const submitted = assertPresent(decideBurnSubmit(unknownBurn, submit), 'a new burn is submitted')
  const state = submitted.events.reduce(evolveBurn, unknownBurn)
  const confirmed = assertPresent(decideBurnConfirm(state, { burnedBaseUnits: burnBaseUnits, slot: 9 }), 'it lands')
  return { submitted: submitted.events[0], confirmed: confirmed.events[0] }
}

test('a payment without a burn is served, its burn is owed, and a later burn of ours confirms it', async () => {
  const settlement = wholePrice()
  const { attemptId, change } = claimOf(settlement)
  expect(change.events.map(({ kind }) => kind)).toEqual(['PaymentVerified', 'ProofClaimed'])
  const claimed = await mustAppend(ledger, change)
  expect(await balances()).toMatchObject({ 'Assets:PaymentWallet': 1_000n, 'Liabilities:Unearned': -1_000n })
  const served = await mustAppend(ledger, fulfilmentOf(settlement, { before: claimed.after, attemptId }))
  expect(await balances()).toMatchObject({ 'Assets:PaymentWallet': 1_000n, 'Liabilities:BurnOwed': -300n })
  expect((await balances())[`Expenses:Burned:${endpoint}`]).toBeUndefined()

  const owedAt = assertPresent(served.leaves[1], 'BurnOwed is the second event').position
  const stream = sampleReference()
  const { submitted, confirmed } = round(1, 300n, owedAt)
  expect(await record(stream, 1, submitted)).toMatchObject({ refusal: null })
  expect(await record(stream, 2, confirmed)).toMatchObject({ refusal: null })
  const after = await balances()
  expect(after).toMatchObject({ 'Assets:PaymentWallet': 700n, [`Expenses:Burned:${endpoint}`]: 300n })
  expect(after['Liabilities:BurnOwed']).toBeUndefined()
  assert(confirmed.kind === 'BurnConfirmed', 'a burn is confirmed')
  expect(confirmed.burnedBaseUnits).toBe(300n)
  // The last debt of the round is at its end.
  const burn = await findBurnOf(ledger.database, settlement.reference)
  expect(burn).toMatchObject({ status: 'confirmed', burn: { round: 1 } })
  expect(await findBroken(admin)).toEqual([])
})

test('a round is submitted once, by whichever burner is first', async () => {
  const settlement = wholePrice()
  const { attemptId, change } = claimOf(settlement)
  const { after: before } = await mustAppend(ledger, change)
  await mustAppend(ledger, fulfilmentOf(settlement, { before, attemptId }))
  const { submitted } = round(2, 300n, 20)
  const streams = Array.from({ length: 8 }, () => sampleReference())
  const answers = await Promise.all(streams.map((stream) => record(stream, 1, submitted)))
  expect(answers.filter(({ refusal }) => refusal === null)).toHaveLength(1)
  expect(answers.filter(({ refusal }) => refusal === 'key_used')).toHaveLength(7)

  // The winner's round is open: no other round begins, and its end is recorded once and for no more than is owed.
  const winner = assertPresent(streams[answers.findIndex(({ refusal }) => refusal === null)], 'one was first')
  const next = round(3, 301n, 20)
  expect(await record(sampleReference(), 1, next.submitted)).toMatchObject({ refusal: 'round_open' })
  expect(await record(winner, 2, next.confirmed)).toMatchObject({ refusal: 'limit Liabilities:BurnOwed' })
  const failed = { kind: 'BurnFailed', round: 2, mint: sampleMint, reason: 'absent', finalizedSlot: 1 } as const
  expect(await record(winner, 2, failed)).toMatchObject({ refusal: null })
  expect(await record(sampleReference(), 1, next.submitted)).toMatchObject({ refusal: 'more_than_owed' })
})

test('a dropped payment takes its owed burn with it', async () => {
  const before = await balances()
  const settlement = wholePrice()
  const { attemptId, change } = claimOf(settlement)
  const claimed = await mustAppend(ledger, change)
  const served = await mustAppend(ledger, fulfilmentOf(settlement, { before: claimed.after, attemptId }))
  const reversal = decideFinality(served.after, { kind: 'reversed', reason: 'absent', finalizedSlot: 1 })
  const decision = assertPresent(reversal, 'a served payment can be reversed')
  expect(decision.events.map(({ kind }) => kind)).toEqual(['PaymentReversed'])
  const { reference } = settlement
  await mustAppend(ledger, { reference, before: served.after, ...decision, nowMs: effectiveAtMs })
  const after = await balances()
  for (const account of ['Assets:PaymentWallet', 'Liabilities:BurnOwed', 'Memo:Exposed'])
    expect(after[account], account).toBe(before[account])
  expect(after['Expenses:ReversedPayments']).toBe(700n)
  expect(await findBroken(admin)).toEqual([])
})
