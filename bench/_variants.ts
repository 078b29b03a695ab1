import { readFileSync } from 'node:fs'
import { startLedgerServer } from './ledgerServer.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { paymentItem, appendArguments } from '../src/store/appendBatch.ts'
import pg from 'pg'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const client = new pg.Client({ connectionString: db.adminUrl })
await client.connect()
const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
const cpu = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
const text = readFileSync('migrations/0004_append.sql', 'utf8')
const fn = text.slice(text.indexOf('create function ledger.append('), text.indexOf('-- Quotes are append-only too'))
const cut = (s: string, from: string, to: string) => { const a = s.indexOf(from), b = s.indexOf(to); if (a < 0 || b < 0) throw new Error(from); return s.slice(0, a) + s.slice(b) }
const variants: Record<string, string> = {
  base: fn,
  noBurns: cut(fn, '  move_burns as (', '  keep_answers as ('),
  noBalances: cut(fn, '  move_balances as (', '  move_burns as ('),
  noAnswers: cut(fn, '  keep_answers as (', '  move_head as ('),
  noPrices: cut(fn, '  log_prices as (', '  move_payments as ('),
  noPayments: cut(fn, '  move_payments as (', '  move_balances as ('),
  noEntries: cut(fn, '  log_entries as (', '  log_prices as ('),
  noEvents: cut(fn, '  log_events as (', '  log_entries as ('),
}
variants.noneOfThose = ['log_events,log_entries', 'log_entries,log_prices', 'log_prices,move_payments', 'move_payments,move_balances', 'move_balances,move_burns', 'move_burns,keep_answers', 'keep_answers,move_head'].reduce((s, p) => { const [a, b] = p.split(','); return cut(s, `  ${a} as (`, `  ${b} as (`) }, fn)
for (const [k, v] of Object.entries(variants)) await client.query(v.replace('create function ledger.append(', `create function ledger.append_${k}(`))
const results = new Map<string, number[]>()
const calls = 60
for (let round = 0; round < 5; round++) for (const n of [1, 32]) for (const k of Object.keys(variants)) {
  const batches = Array.from({ length: calls + 3 }, () => appendArguments(Array.from({ length: n }, () => paymentItem(claimOf(sampleSettlement()).change))))
  
  let c0 = 0
  for (const [i, b] of batches.entries()) { if (i === 3) c0 = cpu(); await client.query({ name: k, text: `select * from ledger.append_${k}($1::jsonb, $2::bytea)`, values: [b.batch, b.bodies] }) }
  const c = (cpu() - c0) / calls
  
  const key = `${k} n=${n}`; results.set(key, [...(results.get(key) ?? []), c])
}
for (const [k, v] of [...results].sort()) { v.sort((a, b) => a - b); console.log(k.padEnd(24), 'min', v[0]!.toFixed(0), 'med', v[2]!.toFixed(0)) }
await client.end()
