import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import type { OpenKind, OpenPayment } from '../../src/payment/paymentLifecycle.ts'
import { readReference, streamIdOf } from '../../src/payment/paymentReference.ts'
import { paymentItem } from '../../src/store/paymentItem.ts'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance } from './instance.ts'
import { seedPayment } from '../reports/seedPayment.ts'
import { claimOf, sampleAddress, sampleSettlement } from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()

test('a walk through open payments of the same moment misses none and repeats none (I25)', async () => {
  const ledger = await openInstance(serviceUrl)
  const settlements = Array.from({ length: 7 }, () => sampleSettlement())
  // One batch, so they have one time.
  const items = settlements.map((settlement) => paymentItem(claimOf(settlement).change))
  await appendBatch(openPool(serviceUrl, 1), items)
  await ledger.lifecycle.followOpenWork()
  const found: OpenPayment[] = []
  for (let page = 0; page < 5; page++)
    found.push(...(await ledger.lifecycle.findOpen({ kind: 'awaiting_finality', after: found.at(-1) }, 2)))
  expect(new Set(found.map(({ createdAtMs }) => createdAtMs)).size).toBe(1)
  expect(found.map(({ reference }) => reference)).toEqual(settlements.map(({ reference }) => reference))
})

test('a lease is found once it has ended, and at once if it ends later than any lease may', async () => {
  const ledger = await openInstance(serviceUrl)
  const settlements = Array.from({ length: 4 }, () => sampleSettlement())
  for (const settlement of settlements) await mustAppend(ledger, claimOf(settlement).change)
  await ledger.lifecycle.followOpenWork()
  const admin = openPool(adminUrl, 1)
  const minutesLeft = [-1, 1, 9, 11]
  for (const [index, { reference }] of settlements.entries())
    await admin.query(
      "update work.open set due_at = now() + $2 * interval '1 minute' where queue = 'lease' and id = $1",
      [Buffer.from(streamIdOf(reference)), minutesLeft[index]],
    )
  const found = await ledger.lifecycle.findOpen({ kind: 'lease_ended' }, 100)
  const own = new Set(settlements.map(({ reference }) => reference))
  const [ended, , , tooLong] = settlements
  expect(found.map(({ reference }) => reference).filter((reference) => own.has(reference))).toEqual([
    ended?.reference,
    tooLong?.reference,
  ])
})

test('pages of dead claims and of undelivered payments follow each other, too', async () => {
  const ledger = await openInstance(serviceUrl)
  const settlements = Array.from({ length: 3 }, () => sampleSettlement())
  const ids = settlements.map(({ reference }) => Buffer.from(streamIdOf(reference)))
  for (const settlement of settlements) await mustAppend(ledger, claimOf(settlement).change)
  await ledger.lifecycle.followOpenWork()
  const admin = openPool(adminUrl, 1)
  const set = "update work.open set queue = $2, due_at = timestamptz 'epoch' where queue = $3 and id = any($1)"
  const walk = async (question: OpenKind) => {
    const found: OpenPayment[] = []
    for (let page = 0; page < 3; page++)
      found.push(...(await ledger.lifecycle.findOpen({ ...question, after: found.at(-1) }, 2)))
    return found.map(({ reference }) => reference)
  }
  const expected = settlements.map(({ reference }) => reference)
  await admin.query(set, [ids, 'lease', 'lease'])
  expect(await walk({ kind: 'lease_ended' })).toEqual(expect.arrayContaining(expected))
  await admin.query(set, [ids, 'undelivered', 'finality'])
  expect(await walk({ kind: 'undelivered', forMs: 1 })).toEqual(expected)
})

test('tokens of a payment that was only sent, or that the chain dropped, are not in the accounts', async () => {
  const ledger = await openInstance(serviceUrl)
  const amounts = { requiredBaseUnits: 1_000n, overpaidBaseUnits: 0n, blockTimeMs: Date.UTC(2026, 10, 22) }
  const references = []
  for (const end of [
    'submitted',
    'reversed',
    'reversed_served',
    'unmatched',
    'submitted_unmatched',
    'claimed',
  ] as const) {
    const seeded = await seedPayment(ledger, { wallet: sampleAddress(), endpoint: '/api/x', ...amounts, end })
    references.push(assertPresent(readReference(seeded), 'a seeded payment has a reference'))
  }
  expect(await ledger.lifecycle.findAccounted(references)).toEqual(new Set(references.slice(3)))
})
