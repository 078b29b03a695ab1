import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance, openSessions } from '../store/instance.ts'
import { claimOf, sampleSettlement } from '../store/samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const admin = openSessions(adminUrl)
const ledger = await openInstance(serviceUrl)

/** As after an append while the clock of the database was an hour ahead; now it is right again. */
async function jumpBack(): Promise<void> {
  await admin.query(`begin; select set_config('ledger.writing', 'on', true);
    update ledger.head set recorded_at = date_trunc('milliseconds', clock_timestamp()) + interval '1 hour',
      clock_at = date_trunc('milliseconds', clock_timestamp()) + interval '1 hour'; commit`)
}

/** As if that many seconds had passed since the newest append. */
async function passTime(seconds: number): Promise<void> {
  await admin.query(`begin; select set_config('ledger.writing', 'on', true);
    update ledger.head set clock_at = clock_at - interval '${seconds} seconds'; commit`)
}

test('a lease that was taken while the clock of the database was an hour ahead ends after twice its length', async () => {
  await jumpBack()
  const settlement = sampleSettlement()
  const { after } = await mustAppend(ledger, claimOf(settlement, { leaseMs: 600_000 }).change)
  const again = () => ledger.payments.append(claimOf(settlement, { before: after }).change)
  expect((await again()).outcome).toBe('conflict')
  await passTime(600)
  expect((await again()).outcome, 'after its length').toBe('conflict')
  await passTime(601)
  expect((await again()).outcome, 'after twice its length').toBe('appended')
})

test('the time of the ledger never goes back, and comes closer to the clock with each append', async () => {
  await jumpBack()
  const times: number[] = []
  const aheadMs: number[] = []
  for (let payment = 0; payment < 20; payment++) {
    const { recordedAtMs } = await mustAppend(ledger, claimOf(sampleSettlement()).change)
    times.push(recordedAtMs)
    // Both times are those of the append. This process may read its own clock late.
    const { rows } = await admin.query<{ aheadMs: number }>(
      `select extract(epoch from recorded_at - clock_at)::float8 * 1000 as "aheadMs" from ledger.head`,
    )
    aheadMs.push(assertPresent(rows[0], 'the ledger has a head').aheadMs)
  }
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
  expect(assertPresent(aheadMs.at(-1), 'a last append')).toBeLessThan(assertPresent(aheadMs[0], 'a first append'))
})
