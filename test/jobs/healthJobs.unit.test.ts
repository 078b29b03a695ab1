import { expect, test } from 'vitest'
import { type HealthJobsDeps, startHealthJobs } from '../../src/jobs/healthJobs.ts'
import { silentLog } from '../../src/machine/log.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { steppedClock } from '../support/steppedClock.ts'

const terms = {
  mint,
  decimals: 6,
  tokenProgram: mint,
  paymentWallet: wallet,
  paymentTokenAccount: otherWallet,
  network: 'solana:test',
}

/** A service whose parts a test puts into trouble. */
async function openService(clockMs = 0) {
  const clock = steppedClock()
  const trouble = { clockMs, ledger: '', history: '', isChainAway: false, decimals: 6 }
  const calls: string[] = []
  const call = (name: string) => () => Promise.resolve(void calls.push(name))
  const node = { name: 'node', slot: 900, lagSlots: 99, isSilent: false, problem: 'lags' }
  const deps: HealthJobsDeps = {
    clock,
    log: silentLog,
    ledger: {
      history: { problem: () => trouble.history || undefined },
      findDurabilityProblem: () => Promise.resolve(trouble.ledger || undefined),
      readDatabaseClockMs: () => Promise.resolve(clock.nowMs() + trouble.clockMs),
      addPartitions: call('partitions'),
      forgetOldAnswers: call('answers'),
      forgetOldPresentations: call('presentations'),
      async dropOldQuotes() {
        calls.push('quotes')
        return []
      },
      showQuoteStorage: call('storage'),
    },
    chain: {
      nodes: {
        poll: () => Promise.resolve(),
        inRotation: () => (trouble.isChainAway ? [] : [node]),
        standings: () => [node],
        slot: () => 900,
        time: { skewMs: () => 0 },
      },
      clockSkewMaxMs: 30_000,
      terms,
      readTerms: () => Promise.resolve({ ...terms, decimals: trouble.decimals }),
    },
  }
  const health = await startHealthJobs(deps)
  const problems = () =>
    health.checks.flatMap(({ name, problem }) => (problem() === undefined ? [] : [name])).toSorted()
  return { clock, trouble, calls, health, problems }
}

test('each trouble fails its own check, and only that of the chain stops quotes alone', async () => {
  const { clock, trouble, health, problems } = await openService()
  expect(problems()).toEqual([])
  const given = { clockMs: 31_000, ledger: 'fsync is off', history: 'an older ledger', isChainAway: true, decimals: 9 }
  const names = { clockMs: 'clock', ledger: 'ledger', history: 'history', isChainAway: 'chain', decimals: 'token' }
  for (const key of ['clockMs', 'ledger', 'history', 'isChainAway'] as const) {
    const right = { ...trouble }
    Object.assign(trouble, { [key]: given[key] })
    await clock.step()
    expect(problems(), key).toEqual([names[key]])
    expect(health.whyNoQuotes() !== undefined).toBe(key === 'isChainAway')
    Object.assign(trouble, right)
    await clock.step()
    expect(problems()).toEqual([])
  }
  trouble.decimals = given.decimals
  await clock.step()
  expect(problems()).toEqual([names.decimals])
  expect(health.checks.filter(({ quotesOnly }) => quotesOnly).map(({ name }) => name)).toEqual(['chain'])
  expect(health.slot()).toBe(900)
  await health.stop()
})

test('quotes are dropped only by a right clock, and partitions are made before anything is sold', async () => {
  const { clock, trouble, calls, health } = await openService(3 * 24 * 60 * 60 * 1000)
  expect(calls).toEqual(['partitions'])
  await clock.step()
  await clock.step()
  expect(calls).toContain('storage')
  expect(calls).not.toContain('quotes')
  trouble.clockMs = 0
  await clock.step()
  await clock.step()
  expect(calls).toContain('quotes')
  await health.stop()
})
