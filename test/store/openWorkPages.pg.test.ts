import { expect, test } from 'vitest'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import type { OpenPayment } from '../../src/payment/paymentLifecycle.ts'
import { paymentItem } from '../../src/store/paymentItem.ts'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'
import { claimOf, sampleSettlement } from './samplePayment.ts'

const { serviceUrl } = await createTestDatabase()

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
