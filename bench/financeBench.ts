import { systemClock } from '@tollbook/core/clock'
import { readQuestion, type ReportName } from '../src/reports/readReport.ts'
import { isProblems } from '../src/reports/reportQuestion.ts'
import { createReports, type Reports } from '../src/reports/reports.ts'
import { rollUp } from '../src/reports/rollUp.ts'
import { startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { sampleMint } from '../test/store/samplePayment.ts'
import { openSeededLedger, readMs, type SeededLedger } from './seededLedger.ts'
import { type Bench, median, type Yardstick } from './yardstick.ts'

const few = 1_000
const readsPerRound = 40

/** Requests of the finance page when it opens, and the first page of each report. */
const readings: Readonly<Record<string, (reports: Reports) => Promise<unknown>>> = {
  summary: (reports) => reports.summary(),
  'burns by day': table('burns', { by: 'day' }),
  'burns by endpoint': table('burns', { by: 'endpoint', from: '2026-01-01' }),
  'burns by wallet': table('burns', { by: 'wallet', limit: '50' }),
  'distributions by day': table('distributions', { by: 'day' }),
  payments: table('payments', { limit: '50' }),
  'payments that are unmatched': table('payments', { limit: '50', state: 'unmatched' }),
  payouts: table('payouts', { limit: '50' }),
  liabilities: table('liabilities', {}),
  'trial balance': table('trial-balance', {}),
}

export const financeBench: Bench = {
  name: 'finance',
  about: 'finance reports on a long ledger against those on a short one',
  async run(options) {
    await using server = await startLedgerServer()
    const { rounds, payments, progress } = options
    const short = await openSeededLedger(server, few, options)
    const long = await openSeededLedger(server, payments, options)
    try {
      const rate = await rollUpAll(long)
      await rollUpAll(short)
      await Promise.all([short.analyze(), long.analyze()])
      progress(`finance: rolled up ${Math.round(rate)} events a second`)
      const [shortReports, longReports] = [reportsOf(short), reportsOf(long)]
      const yardsticks: Yardstick[] = []
      for (const [name, read] of Object.entries(readings)) {
        const results: { short: number; long: number }[] = []
        for (let round = 0; round < rounds; round++)
          results.push({
            short: await readMs(() => read(shortReports), readsPerRound),
            long: await readMs(() => read(longReports), readsPerRound),
          })
        yardsticks.push({
          what: `${name} at ${payments} payments ÷ at ${few}`,
          value: median(results.map((result) => result.long / result.short)),
          goal: { atMost: 1.5 },
          detail: `${median(results.map(({ long }) => long)).toFixed(2)} ms and ${median(results.map(({ short }) => short)).toFixed(2)} ms a call, over loopback, roll-up check included; rolled up at ${Math.round(rate)} events/s`,
        })
      }
      return yardsticks
    } finally {
      await short.close()
      await long.close()
    }
  },
}

function table(report: ReportName, given: Readonly<Record<string, string>>): (reports: Reports) => Promise<unknown> {
  const question = readQuestion(report, given)
  if (isProblems(question)) throw new Error(`the bench asks what cannot be asked: ${JSON.stringify(question)}`)
  return (reports) => reports.table(report, question)
}

function reportsOf({ database }: SeededLedger): Reports {
  return createReports(database, { mint: sampleMint, decimals: 6 })
}

/** Events a second. */
async function rollUpAll({ database }: SeededLedger): Promise<number> {
  const startedAtMs = systemClock.monotonicMs()
  let events = 0
  for (let step = await rollUp(database); step > 0; step = await rollUp(database)) events += step
  return (events * 1000) / (systemClock.monotonicMs() - startedAtMs)
}
