import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { signatureOf } from '../../../src/payment/paymentReference.ts'
import { databaseOn } from '../../../src/store/database.ts'
import { recordPayout } from '../../../src/store/payoutStore.ts'
import { split } from '../../../src/pricing/split.ts'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'
import { findBroken } from '../../kernel/checkLedger.ts'
import { openPool } from '../../kernel/openKernel.ts'
import { openInstance } from '../../store/instance.ts'
import { claimOf, sampleAddress, sampleMint, sampleReference, sampleSettlement } from '../../store/samplePayment.ts'
import { createTestDatabase } from '../../support/database.ts'
import { closePurse, creditPurse, debitPurse, fulfilRequest, openPurse, type Purse } from './purse.ts'
import { stored } from './purseEvents.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const admin = openPool(adminUrl, 2)
await admin.query(await readFile(new URL('purse.sql', import.meta.url), 'utf8'))
const ledgers = await Promise.all([openInstance(serviceUrl), openInstance(serviceUrl), openInstance(serviceUrl)])
const [{ kernel, payments }] = ledgers

const endpoint = '/api/data/weather'
// A request of 100 burns 30 of them; the deposit burned for all of its requests, so a debit takes 70.
const { shares } = split(100n, defaultSplit)
const priceBaseUnits = 70n

const newPurse = (): Purse => ({ reference: sampleReference(), wallet: sampleAddress(), mint: sampleMint })
const depositFor = (requests: bigint) => ({
  endpoint,
  depositBaseUnits: requests * priceBaseUnits,
  burnedBaseUnits: requests * 30n,
})

async function balanceOf(account: string): Promise<bigint> {
  const { rows } = await admin.query<{ balance: string }>('select balance from ledger.accounts where name = $1', [
    account,
  ])
  return BigInt(rows[0]?.balance ?? 0)
}

/** From one of three processes, each with a separate queue. */
function debit(purse: Purse, number: number) {
  return (ledgers[number % ledgers.length] ?? ledgers[0]).kernel.append(debitPurse(purse, number, priceBaseUnits))
}

test('64 callers at once on a purse with money for 40 requests get 40, and it is at zero and never below', async () => {
  const purse = newPurse()
  await kernel.append(openPurse(purse, depositFor(40n)))
  const outcomes = await Promise.all(Array.from({ length: 64 }, (_, number) => debit(purse, number + 1)))
  const refused = outcomes.filter(({ outcome }) => outcome === 'refused')
  expect(outcomes.filter(({ outcome }) => outcome === 'appended')).toHaveLength(40)
  expect(new Set(refused.map((result) => JSON.stringify(result)))).toEqual(
    new Set([JSON.stringify({ outcome: 'refused', refusal: { reason: 'limit', account: stored(purse.reference) } })]),
  )
  expect(await balanceOf(stored(purse.reference))).toBe(0n)
  expect(await findBroken(admin)).toEqual([])
})

test('a request is debited once however often it is sent, and a failed one gives its money back to the purse', async () => {
  const purse = newPurse()
  await kernel.append(openPurse(purse, depositFor(2n)))
  const repeated = await Promise.all(Array.from({ length: 9 }, () => debit(purse, 1)))
  expect(repeated.filter(({ outcome }) => outcome === 'appended')).toHaveLength(1)
  await debit(purse, 2)
  expect(await debit(purse, 3)).toMatchObject({ refusal: { reason: 'limit' } })
  expect(await kernel.append(creditPurse(purse, 2, priceBaseUnits))).toMatchObject({ outcome: 'appended' })
  expect(await debit(purse, 3)).toMatchObject({ outcome: 'appended' })
  expect(await kernel.append(fulfilRequest(purse, 1, shares))).toMatchObject({ outcome: 'appended' })
  expect(await kernel.append(creditPurse(purse, 1, priceBaseUnits)), 'a delivered request').toMatchObject({
    refusal: { reason: 'conflict' },
  })
})

test('a closed purse wins every race, owes its rest back to the wallet, and its deposit is not a payment', async () => {
  const purse = newPurse()
  await kernel.append(openPurse(purse, depositFor(10n)))
  await debit(purse, 1)
  const rest = 9n * priceBaseUnits
  const [closed, ...debits] = await Promise.all([
    kernel.append(closePurse(purse, rest)),
    ...Array.from({ length: 16 }, (_, number) => debit(purse, number + 2)),
  ])
  // A debit that came first leaves less than the closing returns, and the ceiling refuses the closing.
  const isClosed = debits.every(({ outcome }) => outcome === 'refused')
  expect(closed).toMatchObject(isClosed ? { outcome: 'appended' } : { refusal: { reason: 'limit' } })
  expect(await balanceOf(`Liabilities:RefundsDue:${purse.wallet}`)).toBe(isClosed ? -rest : 0n)
  const settlement = sampleSettlement({ reference: purse.reference })
  expect(await payments.append(claimOf(settlement).change)).toEqual({ outcome: 'conflict' })
  const { payment } = await payments.lookUp({ ...settlement, idempotencyKey: undefined })
  expect(payment.phase).toBe('unmatched')
  expect(await findBroken(admin)).toEqual([])
})

test('the rest of a closed purse is paid out as any refund is, once', async () => {
  const purse = newPurse()
  await kernel.append(openPurse(purse, depositFor(3n)))
  await kernel.append(closePurse(purse, 3n * priceBaseUnits))
  const account = `Liabilities:RefundsDue:${purse.wallet}`
  const paid = { account, wallet: purse.wallet, paidBaseUnits: 3n * priceBaseUnits }
  const payout = () => ({ ...samplePayout(), mint: purse.mint, payments: [paid] })
  const receipts = databaseOn(admin)
  expect(await recordPayout(receipts, payout(), 0)).toMatchObject({ outcome: 'recorded' })
  expect(await recordPayout(receipts, payout(), 0)).toEqual({ outcome: 'more_than_owed' })
  expect(await balanceOf(account)).toBe(0n)
})

function samplePayout() {
  const signature = assertPresent(signatureOf(sampleReference()), 'a reference has a signature')
  return { kind: 'DistributionPaid', signature, planId: 'payout_1', part: 1, slot: 1 } as const
}
