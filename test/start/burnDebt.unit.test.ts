import { expect, test } from 'vitest'
import { measureBurnDebt } from '../../src/start/jobs/startJobs.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { steppedClock } from '../support/steppedClock.ts'

const wallet = sampleAddress()
const accounts = { tokenProgram: wallet, paymentWallet: wallet, paymentTokenAccount: wallet }
const terms = { ...accounts, mint: sampleMint, decimals: 6, network: 'n' }

test('the age of the owed burns is in seconds, and a block time ahead of this clock counts as now', async () => {
  const clock = steppedClock()
  const shown: unknown[] = []
  const measure = (oldestOwedAtMs: number | undefined) =>
    measureBurnDebt({
      clock,
      ledger: {
        burnDebt: ({ mint }) =>
          Promise.resolve({
            owedBaseUnits: mint === sampleMint ? 3n : 0n,
            oldestOwedAtMs,
            confirmedBaseUnits: 0n,
            lastRound: undefined,
          }),
      },
      chain: { terms },
      metrics: { onBurnDebt: (debt) => void shown.push(debt) },
    })
  await measure(clock.nowMs() - 90_000)
  await measure(clock.nowMs() + 2_000)
  await measure(undefined)
  expect(shown).toEqual([90, 0, 0].map((oldestSeconds) => ({ owedBaseUnits: 3n, oldestSeconds })))
})
