import { expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
import { createTabStore } from '../../src/store/tabStore.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { mint, referenceNumber, wallet } from '../payment/paymentStory.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const unused = (): never => {
  throw new Error('this test reads no tab')
}
const kernel = { append: unused, read: unused, readMany: unused, drained: unused }
const todayMs = Date.UTC(2026, 10, 27)
const dayMs = 24 * 60 * 60 * 1000

function tabWith(deposits: readonly (readonly [baseUnits: bigint, effectiveAtMs: number])[]): Tab {
  const keys = { sessionKey: wallet, bearerHash: undefined }
  const limits = { maxPerRequestBaseUnits: 1n, maxPerDayBaseUnits: 1_000n, endsAtMs: 0 }
  return {
    ...keys,
    id: tabIdOf(new Uint8Array(64).fill(1)),
    wallet,
    mint,
    deposit: referenceNumber(0),
    evidence: { kind: 'solana', slot: 1, blockTimeMs: 0, transactionBase64: undefined },
    terms: { ...keys, ...limits },
    lifecycle: newLifecycle,
    deposits: deposits.map(([baseUnits, effectiveAtMs], index) => {
      return { reference: referenceNumber(index), baseUnits, effectiveAtMs, standing: 'final', lostBaseUnits: 0n }
    }),
  }
}

test('deposits of earlier days do not count as spent today, and those of today do not hide what was spent', async () => {
  const since: unknown[] = []
  const spent = (tab: Tab, tally: bigint) => {
    const database = scriptedDatabase((_statement, values) => {
      since.push(values.at(-1))
      return [{ amount: String(tally), deposits: tab.deposits.length }]
    })
    const store = createTabStore({ database, pool: { query: unused }, kernel, clock: heldClock })
    return store.spentTodayBaseUnits(tab, todayMs + dayMs - 1)
  }
  const yesterday = [500n, todayMs - 1] as const
  // The tally of the day is what was taken less what was deposited: 30 and 100.
  expect(await spent(tabWith([yesterday]), 30n)).toBe(30n)
  expect(await spent(tabWith([yesterday, [100n, todayMs]]), -70n)).toBe(30n)
  expect(since).toEqual(Array(2).fill(new Date(todayMs)))
})
