import { readFileSync } from 'node:fs'
import { startLedgerServer } from './ledgerServer.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { paymentItem, appendArguments } from '../src/store/appendBatch.ts'
import { spawn } from 'node:child_process'
import pg from 'pg'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const client = new pg.Client({ connectionString: db.adminUrl })
await client.connect()
const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
const text = readFileSync('migrations/0004_append.sql', 'utf8')
const fn = text.slice(text.indexOf('create function ledger.append('), text.indexOf('-- Quotes are append-only too'))
const cut = (s: string, from: string, to: string) => { const a = s.indexOf(from), b = s.indexOf(to); if (a < 0 || b < 0) throw new Error(from); return s.slice(0, a) + s.slice(b) }
const bare = ['log_events,log_entries', 'log_entries,log_prices', 'log_prices,move_payments', 'move_payments,move_balances', 'move_balances,move_burns', 'move_burns,keep_answers', 'keep_answers,move_head'].reduce((s, p) => { const [a, b] = p.split(','); return cut(s, `  ${a} as (`, `  ${b} as (`) }, fn)
await client.query(bare.replace('create function ledger.append(', 'create function ledger.append_bare('))
const bs = Array.from({ length: 1000 }, () => appendArguments(Array.from({ length: 32 }, () => paymentItem(claimOf(sampleSettlement()).change))))
for (const f of ['append_bare', 'append']) {
const call = (b: any) => client.query({ name: f, text: `select * from ledger.${f}($1::jsonb, $2::bytea)`, values: [b.batch, b.bodies] })
for (const b of bs.slice(0, 100)) await call(b)
const perf = spawn('perf', ['record', '-q', '-g', '-F', '5000', '-p', String(pid), '-o', `/tmp/${f}.data`], { stdio: 'inherit' })
await new Promise((r) => setTimeout(r, 500))
for (const b of bs.slice(100)) await call(b)
perf.kill('SIGINT'); await new Promise((r) => perf.on('exit', r))
}
await client.end()
