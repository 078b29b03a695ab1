import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import type { Signature } from '@tollbook/core/signature'
import { silentLog } from '../../src/machine/log.ts'
import { decideUnmatched } from '../../src/payment/finality.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { readOpenHolderPayout, recordAttempt, recordHolderPayout } from '../../src/store/holderPayoutStore.ts'
import { findPaidWallets, readDebts, readLeastPayout, recordPayout } from '../../src/store/payoutStore.ts'
import { seedPayment, type SeededPayment } from '../reports/seedPayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance } from './instance.ts'
import { sampleAddress, sampleMint, samplePrice, sampleReference } from './samplePayment.ts'

/* Debts that payouts read: of one mint, one plan and one wallet among others. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const database = openDatabase({ databaseUrl: adminUrl, applicationName: 'test', connectionsMax: 3, log: silentLog })
afterFile(() => database.destroy())
const endpoint = '/api/x'
const otherMint = sampleAddress()

function seed(given: Partial<SeededPayment> = {}) {
  const blockTimeMs = Date.UTC(2026, 10, 22)
  const payment = { wallet: sampleAddress(), endpoint, requiredBaseUnits: 1_000n, overpaidBaseUnits: 0n, blockTimeMs }
  return seedPayment(ledger, { ...payment, end: 'finalized', ...given })
}

test('the smallest payout is a hundredth of the cheapest price of the newest list in its mint', async () => {
  const publish = (...prices: readonly (readonly [Address, bigint])[]) =>
    ledger.priceLists.publish({
      kind: 'PriceListPublished',
      source: 'fixed',
      split: defaultSplit,
      prices: prices.map(([mint, required], index) => ({ ...samplePrice(`/api/${index}`, required), mint })),
    })
  expect(await readLeastPayout(database, sampleMint)).toBe(0n)
  await publish([sampleMint, 100n])
  await publish([sampleMint, 5_000n], [sampleMint, 2_099n], [otherMint, 300n])
  expect(await readLeastPayout(database, sampleMint)).toBe(20n)
  expect(await readLeastPayout(database, otherMint)).toBe(3n)
  expect(await readLeastPayout(database, sampleAddress())).toBe(0n)
})

test('overpayments of a wallet wait while one of its payments is not final, in the list of open work or not', async () => {
  const [wallet = otherMint, another = otherMint] = [sampleAddress(), sampleAddress()].toSorted()
  for (const payer of [wallet, another]) await seed({ wallet: payer, overpaidBaseUnits: 5n })
  const overpaid = async () => {
    const { debts, unsettled } = await readDebts(database, sampleMint)
    return [debts, unsettled].map((list) =>
      list.flatMap(({ account }) => (account.includes(':Overpaid:') ? [account.split(':').at(-1)] : [])),
    )
  }
  await ledger.lifecycle.followOpenWork()
  expect(await overpaid()).toEqual([[wallet, another], []])
  await seed({ wallet, end: 'fulfilled' })
  expect(await overpaid(), 'before the list has the payment').toEqual([[another], [wallet]])
  await ledger.lifecycle.followOpenWork()
  expect(await overpaid()).toEqual([[another], [wallet]])
})

async function payOut(mint: Address, wallet: Address, planId: string) {
  const signature = assertPresent(signatureOf(sampleReference()), 'a Solana reference')
  const payments = [{ account: 'Liabilities:Share:holders', wallet, paidBaseUnits: 3n }]
  const paid = { kind: 'DistributionPaid', signature, planId, part: 1, mint, slot: 9, payments } as const
  expect(await recordPayout(database, paid, Date.UTC(2026, 10, 23))).toMatchObject({ outcome: 'recorded' })
}

test('a wallet counts as paid in the mint of its payout only', async () => {
  await seed({ price: { ...samplePrice(endpoint, 1_000n), mint: otherMint } })
  await seed()
  const [paid, paidElsewhere, unpaid] = [sampleAddress(), sampleAddress(), sampleAddress()]
  await payOut(sampleMint, paid, 'one')
  await payOut(otherMint, paidElsewhere, 'two')
  expect(await findPaidWallets(database, sampleMint, [paid, paidElsewhere, unpaid])).toEqual(new Set([paid]))
  expect(await findPaidWallets(database, otherMint, [paid, paidElsewhere, unpaid])).toEqual(new Set([paidElsewhere]))
  expect(await findPaidWallets(database, sampleMint, [])).toEqual(new Set())
})

test('a plan for holders has paid its own parts, and not those of another plan', async () => {
  await seed()
  const account = 'Liabilities:Share:holders'
  const planId = `payout_${'a'.repeat(32)}`
  const terms = { account, amountBaseUnits: 20n, snapshotSha256: '0'.repeat(64), snapshotSlot: 1, excluded: [] }
  const counts = { minimumBaseUnits: 1n, openAccountsMax: 0, lines: 1, parts: 1 }
  const head = { kind: 'HolderPayoutPlanned', planId, mint: sampleMint, rule: 'pro-rata-1' } as const
  expect(await recordHolderPayout(database, { ...head, ...terms, ...counts }, { effectiveAtMs: 0 })).toBe('recorded')
  await payOut(sampleMint, sampleAddress(), planId)
  await payOut(sampleMint, sampleAddress(), 'another plan')
  expect(await readOpenHolderPayout(database, sampleMint)).toEqual({
    planId,
    account,
    amountBaseUnits: 20n,
    paidBaseUnits: 3n,
  })
  expect(await readOpenHolderPayout(database, otherMint)).toBeUndefined()
  const ended = { kind: 'HolderPayoutEnded', planId, mint: sampleMint, paidBaseUnits: 3n } as const
  expect(await recordHolderPayout(database, ended, { effectiveAtMs: 0, judged: [] })).toBe('recorded')
  expect(await readOpenHolderPayout(database, sampleMint)).toBeUndefined()
})

/** An open plan for holders, with the calls that end it and that record a transaction of its first part. */
async function openPlan(database: Database) {
  await seed()
  const id = randomBytes(16).toString('hex')
  const ofPlan = { planId: `payout_${id}`, mint: sampleMint }
  const terms = { amountBaseUnits: 20n, snapshotSha256: '0'.repeat(64), snapshotSlot: 1, excluded: [] }
  const counts = { minimumBaseUnits: 1n, openAccountsMax: 0, lines: 1, parts: 1, rule: 'pro-rata-1' } as const
  const planned = {
    kind: 'HolderPayoutPlanned',
    account: 'Liabilities:Share:holders',
    ...ofPlan,
    ...terms,
    ...counts,
  } as const
  expect(await recordHolderPayout(database, planned, { effectiveAtMs: 0 })).toBe('recorded')
  const ended = { kind: 'HolderPayoutEnded', paidBaseUnits: 0n, ...ofPlan } as const
  const newSignature = () => assertPresent(signatureOf(sampleReference()), 'a Solana reference')
  return {
    newSignature,
    end: (on: Database, judged: readonly Signature[]) => recordHolderPayout(on, ended, { effectiveAtMs: 0, judged }),
    send: (on: Database, signature: Signature, replaced?: Signature) =>
      recordAttempt(on, ofPlan.planId, {
        attempt: { part: 1, signature, lastValidHeight: 900, bytes: new Uint8Array([1]) },
        replaced,
      }),
  }
}

test('a plan for holders ends only if all its transactions were judged, and then takes no other', async () => {
  const { end, send, newSignature } = await openPlan(database)
  const [first, second] = [newSignature(), newSignature()]
  expect(await send(database, first)).toBe(true)
  expect(await end(database, [])).toBe('transaction_unjudged')
  expect(await send(database, second, first), 'the plan is open').toBe(true)
  expect(await end(database, [first])).toBe('transaction_unjudged')
  expect(await end(database, [first, second])).toBe('recorded')
  expect(await end(database, []), 'again').toBe('recorded')
  expect(await send(database, newSignature(), second)).toBe(false)
})

test.each(['recorded', true])(
  'of an end of a plan for holders and a transaction at once, the second is refused (first: %s)',
  async (outcome) => {
    const { end, send, newSignature } = await openPlan(database)
    const calls = [(on: Database) => end(on, []), (on: Database) => send(on, newSignature())] as const
    const [first, second] = outcome === 'recorded' ? calls : ([calls[1], calls[0]] as const)
    let waiting: Promise<unknown> = Promise.resolve()
    await database.transaction().execute(async (transaction) => {
      expect(await first(transaction)).toBe(outcome)
      let isOver = false
      waiting = second(database).finally(() => (isOver = true))
      await awaitThat('the second call waits or has ended', async () => isOver || (await isWaiting()))
    })
    expect(await waiting).toBe(outcome === 'recorded' ? false : 'transaction_unjudged')
  },
)

async function isWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(database)
  return rows.length > 0
}

test('tokens of unknown senders are neither owed nor held for others, and undelivered prices are held', async () => {
  const mint = sampleAddress()
  const unearned = await seed({ end: 'released', price: { ...samplePrice(endpoint, 1_000n), mint } })
  expect(unearned).toContain('solana:')
  const { heldBaseUnits, debts } = await readDebts(database, mint)
  const transfer = { wallet: undefined, mint, receivedBaseUnits: 70n, slot: 9 }
  const decision = assertPresent(decideUnmatched(unknownPayment, transfer), 'the transfer is new')
  await mustAppend(ledger, { reference: sampleReference(), before: unknownPayment, ...decision, nowMs: 0 })
  expect(heldBaseUnits).toBeGreaterThan(0n)
  expect(await readDebts(database, mint)).toMatchObject({ heldBaseUnits, debts })
})
