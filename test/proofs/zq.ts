import { readFileSync } from 'node:fs'
import { isProblems, readQuestion, type ReportName } from '../../src/reports/reportQuestion.ts'
import { createReports } from '../../src/reports/reports.ts'
import { createPaymentFacts } from '../../src/reports/paymentFacts.ts'
import { burnStats } from '../../src/reports/burnStats.ts'
import { openDatabase } from '../../src/store/database.ts'
import { silentLog } from '../../src/primitives/log.ts'
import { systemClock } from '@tollbook/core/clock'
const pw = readFileSync('/work/scratch/desk1m/ledger/postgres.password', 'utf8').trim()
const port = /port = '(\d+)'/.exec(readFileSync('/work/scratch/desk1m/ledger/postgres.conf', 'utf8'))![1]
const names = JSON.parse(readFileSync('/work/scratch/desk1m/ledger/ledgers.json', 'utf8'))
const open = (db: string) =>
  openDatabase({
    databaseUrl: `postgres://postgres:${pw}@127.0.0.1:${port}/${db}`,
    applicationName: 'zq',
    connectionsMax: 1,
    log: silentLog,
  })
const dbs = { short: open(names.short), long: open(names.long) }
const { rows } = await dbs.long
  .selectFrom('reports.payments' as any)
  .select(['mint', 'wallet', 'reference'] as any)
  .limit(1)
  .execute()
  .then((rows: any) => ({ rows }))
const mint = rows[0].mint
const reps = {
  short: createReports(dbs.short, { mint, decimals: 6 }),
  long: createReports(dbs.long, { mint, decimals: 6 }),
}
const mid: any = {}
for (const k of ['short', 'long'] as const) {
  const r = await dbs[k]
    .selectFrom('reports.payments' as any)
    .select(['wallet', 'reference', 'paid_at'] as any)
    .where('paid_at' as any, '<', new Date(Date.now() - 40 * 864e5))
    .orderBy('paid_at' as any, 'desc')
    .limit(1)
    .execute()
  mid[k] = r[0]
}
const day = mid.long.paid_at.toISOString().slice(0, 10)
const W = (k: 'short' | 'long') => mid[k].wallet
type K = 'short' | 'long'
const table = (r: ReportName, g: (k: K) => Record<string, string>) => async (k: K) => {
  const q = readQuestion(r, g(k))
  if (isProblems(q)) throw new Error(JSON.stringify(q))
  return (await reps[k].table(r, q)).read.rows.length
}
const csv = (r: ReportName, g: (k: K) => Record<string, string>) => async (k: K) => {
  const q = readQuestion(r, g(k))
  if (isProblems(q)) throw new Error(JSON.stringify(q))
  const { read } = await reps[k].csv(r, q)
  for await (const c of read) {
    read.destroy()
    return c.length
  }
  return 0
}
const ep = '/api/ai/chat'
const qs: Record<string, (k: K) => Promise<unknown>> = {
  summary: (k) => reps[k].summary(),
  money: (k) => reps[k].money(),
  burnstats: (k) => burnStats({ database: dbs[k], clock: systemClock }, { mint, decimals: 6 }),
  'burns by day': table('burns', () => ({ by: 'day' })),
  'burns by endpoint': table('burns', () => ({ by: 'endpoint' })),
  'burns by wallet month': table('burns', () => ({ by: 'wallet', month: '2026-10', limit: '50' })),
  'distributions day': table('distributions', () => ({ by: 'day' })),
  payments: table('payments', () => ({ limit: '50' })),
  'payments 1000': table('payments', () => ({ limit: '1000' })),
  'payments month': table('payments', () => ({ limit: '50', month: '2026-10' })),
  'payments day': table('payments', () => ({ limit: '50', from: day, to: day })),
  'payments wallet': table('payments', (k) => ({ limit: '50', wallet: W(k) })),
  'payments wallet day': table('payments', (k) => ({ limit: '50', wallet: W(k), from: day, to: day })),
  'payments wallet endpoint': table('payments', (k) => ({ limit: '50', wallet: W(k), endpoint: ep })),
  'payments wallet endpoint none': table('payments', (k) => ({ limit: '50', wallet: W(k), endpoint: '/none' })),
  'payments wallet state': table('payments', (k) => ({ limit: '50', wallet: W(k), state: 'reversed' })),
  'payments wallet fulfilled': table('payments', (k) => ({ limit: '50', wallet: W(k), state: 'fulfilled' })),
  'payments endpoint': table('payments', () => ({ limit: '50', endpoint: ep })),
  'payments endpoint none': table('payments', () => ({ limit: '50', endpoint: '/none' })),
  'payments endpoint state': table('payments', () => ({ limit: '50', endpoint: ep, state: 'reversed' })),
  'payments endpoint month state': table('payments', () => ({
    limit: '50',
    endpoint: ep,
    state: 'refund_due',
    month: '2026-09',
  })),
  'payments state': table('payments', () => ({ limit: '50', state: 'reversed' })),
  'payments submitted': table('payments', () => ({ limit: '50', state: 'submitted' })),
  'payments nobody': table('payments', () => ({ limit: '50', wallet: '1'.repeat(32) })),
  'payments empty month': table('payments', () => ({ limit: '50', month: '2025-01' })),
  refunds: table('refunds', () => ({ limit: '50' })),
  'refunds 1000': table('refunds', () => ({ limit: '1000' })),
  'refunds due month': table('refunds', () => ({ limit: '50', refund: 'due', month: '2026-09' })),
  'refunds paid': table('refunds', () => ({ limit: '50', refund: 'paid' })),
  'refunds wallet': table('refunds', (k) => ({ limit: '50', wallet: W(k) })),
  'refunds nobody': table('refunds', () => ({ limit: '50', wallet: '1'.repeat(32) })),
  payouts: table('payouts', () => ({ limit: '50' })),
  liabilities: table('liabilities', () => ({ limit: '50' })),
  'liabilities wallets': table('liabilities', () => ({ limit: '50', owedTo: 'wallets' })),
  trial: table('trial-balance', () => ({ month: '2026-10' })),
  payment: (k) => reps[k].payment(mid[k].reference),
  statement: async (k) => {
    const { read } = await reps[k].statement({ wallet: W(k), month: '2026-10' })
    for await (const c of read) {
      read.destroy()
      return c.length
    }
  },
  refundsNow: (k) => reps[k].refundsNow(W(k)),
  'csv payments': csv('payments', () => ({})),
  'csv refunds': csv('refunds', () => ({})),
  'csv burns wallet': csv('burns', () => ({ by: 'wallet' })),
  leaf: (k) => createPaymentFacts(dbs[k]).paymentOfLeaf('00'.repeat(16)),
}
const only = process.argv[2]
const asks = Number(process.argv[3] ?? 5)
for (const [name, run] of Object.entries(qs)) {
  if (only && !name.includes(only)) continue
  const t: Record<K, number[]> = { short: [], long: [] }
  let out: Record<string, unknown> = {}
  for (let n = 0; n < asks; n++)
    for (const k of ['short', 'long'] as const) {
      const s = performance.now()
      const r = await run(k)
      t[k].push(performance.now() - s)
      if (typeof r === 'number') out[k] = r
    }
  const m = (v: number[]) => v.toSorted((a, b) => a - b)[Math.floor(v.length / 2)]!
  console.log(
    name.padEnd(34),
    (m(t.long) / m(t.short)).toFixed(2).padStart(7),
    m(t.short).toFixed(0).padStart(6),
    m(t.long).toFixed(0).padStart(6),
    'max',
    Math.max(...t.long)
      .toFixed(0)
      .padStart(6),
    JSON.stringify(out),
  )
}
await dbs.short.destroy()
await dbs.long.destroy()
