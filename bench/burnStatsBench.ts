import { systemClock } from '@tollbook/core/clock'
import { burnStats } from '../src/reports/burnStats.ts'
import { startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { sampleMint } from '../test/store/samplePayment.ts'
import { daysBack, openSeededLedger, readMs, type SeededLedger, seedBatch } from './seededLedger.ts'
import { type Bench, median } from './yardstick.ts'

// Every hour of the 120 days has a payment in both ledgers: the cost is bound by the hours shown, not by payments.
const few = 5_000
const read = ({ database }: SeededLedger) =>
  burnStats({ database, clock: systemClock }, { mint: sampleMint, decimals: 6 })

export const burnStatsBench: Bench = {
  name: 'burn-stats',
  about: 'burn statistics of a long ledger against those of a short one, both seeded through ledger.append_batch',
  async run(options) {
    await using server = await startLedgerServer()
    const { rounds, payments, progress } = options
    const [short, long] = [
      await openSeededLedger(server, few, options),
      await openSeededLedger(server, payments, options),
    ]
    try {
      const ratios: { short: number; long: number }[] = []
      for (let round = 0; round <= rounds; round++) {
        const result = { short: await readMs(() => read(short)), long: await readMs(() => read(long)) }
        if (round > 0) ratios.push(result)
        progress(
          `burn-stats: round ${round} of ${rounds}, ${result.short.toFixed(2)} ms and ${result.long.toFixed(2)} ms`,
        )
      }
      const value = median(ratios.map((round) => round.long / round.short))
      const what = `burn-stats at ${payments} payments ÷ at ${few}`
      const detail = `${median(ratios.map((round) => round.long)).toFixed(2)} ms and ${median(ratios.map((round) => round.short)).toFixed(2)} ms a call, seeded by ledger.append_batch in batches of ${seedBatch} over ${daysBack} days`
      return [{ what, value, goal: { atMost: 1.2 }, detail }]
    } finally {
      await short.close()
      await long.close()
    }
  },
}
