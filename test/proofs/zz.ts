import { writeFile } from 'node:fs/promises'
import { openFinanceLedgers } from './finance/financeLedgers.ts'
import { say } from './verdict.ts'
const l = await openFinanceLedgers({ folder: '/work/scratch/desk1m/ledger', appended: 10000, factor: 100 })
say('open')
const pick = ({ baseUrl, financeToken, signature, receiptId, env, payments }: typeof l.long) => ({
  baseUrl,
  financeToken,
  signature,
  receiptId,
  payments,
  database: env['DATABASE_URL'],
  env,
})
await writeFile(
  '/work/scratch/desk1m/open.json',
  JSON.stringify({ long: pick(l.long), short: pick(l.short), longUrl: l.longUrl, pid: process.pid }),
)
process.on('SIGTERM', () => void l[Symbol.asyncDispose]().then(() => process.exit(0)))
setInterval(() => undefined, 1e6)
