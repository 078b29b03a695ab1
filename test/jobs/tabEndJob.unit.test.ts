import { expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { silentLog } from '../../src/machine/log.ts'
import { startTabEndJob } from '../../src/jobs/tabEndJob.ts'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
import { sampleAddress, sampleEvidence, sampleMint, sampleReference } from '../store/samplePayment.ts'
import { createHeldClock } from '../chain/heldClock.ts'

const dayMs = 24 * 60 * 60 * 1000
const nowMs = Date.parse('2026-11-27T00:00:00.000Z')
const tab: Tab = {
  id: tabIdOf(new Uint8Array(64).fill(7)),
  wallet: sampleAddress(),
  mint: sampleMint,
  deposit: sampleReference(),
  evidence: sampleEvidence(),
  terms: {
    sessionKey: sampleAddress(),
    bearerHash: undefined,
    maxPerRequestBaseUnits: 1n,
    maxPerDayBaseUnits: undefined,
    endsAtMs: nowMs + 30 * dayMs,
  },
  sessionKey: undefined,
  bearerHash: undefined,
  lifecycle: newLifecycle,
  deposits: [],
}

/** Ends tabs once, and returns those that were closed. The first of `ids` cannot be closed if there are several. */
async function endTabs(
  clockMs: number,
  databaseMs: number,
  lifecycle = newLifecycle,
  ids: readonly string[] = [tab.id],
): Promise<readonly string[]> {
  const closed: string[] = []
  const looked = Promise.withResolvers<undefined>()
  let pauses = 0
  const sleep = async (): Promise<void> => {
    if (++pauses === 1) return
    looked.resolve(undefined)
    await Promise.withResolvers<undefined>().promise
  }
  const job = startTabEndJob({
    clock: { ...createHeldClock(clockMs), sleep },
    log: silentLog,
    tabs: {
      find: () => Promise.resolve({ ...tab, lifecycle }),
      listHolding: () => Promise.resolve(ids),
      close(id) {
        if (ids.length > 1 && id === ids[0]) return Promise.reject(new Error('the tab kept changing'))
        closed.push(id)
        return Promise.resolve({ restBaseUnits: 0n, hasChanged: true })
      },
    },
    readDatabaseClockMs: () => Promise.resolve(databaseMs),
  })
  await looked.promise
  void job.stop()
  return closed
}

test('a server whose clock is a year ahead ends no tab', async () => {
  expect(await endTabs(nowMs + 365 * dayMs, nowMs)).toEqual([])
})

test('a tab whose days are over is closed, also by a server whose clock is behind', async () => {
  expect(await endTabs(nowMs, nowMs + 30 * dayMs)).toEqual([tab.id])
})

test('what a hold returned to a closed tab is owed at once, and not at the end of its days', async () => {
  expect(await endTabs(nowMs, nowMs, { ...newLifecycle, version: 1, isClosed: true })).toEqual([tab.id])
})

test('a tab ends at its moment, and not a millisecond before', async () => {
  expect(await endTabs(nowMs, nowMs + 30 * dayMs - 1)).toEqual([])
})

test('a tab that cannot be closed does not keep those behind it open', async () => {
  const other = tabIdOf(new Uint8Array(64).fill(8))
  expect(await endTabs(nowMs, nowMs + 30 * dayMs, newLifecycle, [tab.id, other])).toEqual([other])
})
