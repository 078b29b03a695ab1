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
const one = (n: number) => appendArguments(Array.from({ length: n }, () => paymentItem(claimOf(sampleSettlement()).change)))
const call = (b: any) => client.query({ name: 'x', text: `select * from ledger.append($1::jsonb, $2::bytea)`, values: [b.batch, b.bodies] })
for (let i = 0; i < 30; i++) await call(one(16))
for (const n of [1, 16]) {
const bs = Array.from({ length: 400 }, () => one(n))
const perf = spawn('perf', ['record', '-q', '-F', '4000', '-p', String(pid), '-o', `/tmp/perf${n}.data`], { stdio: 'inherit' })
await new Promise((r) => setTimeout(r, 500))
for (const b of bs) await call(b)
perf.kill('SIGINT'); await new Promise((r) => perf.on('exit', r))
}
await client.query("load 'auto_explain'; set client_min_messages=log; set auto_explain.log_min_duration=0; set auto_explain.log_nested_statements=on; set auto_explain.log_analyze=on; set auto_explain.log_triggers=on")
const notices: string[] = []
client.on('notice', (n) => notices.push(n.message ?? ''))
await call(one(16)); await call(one(16))
console.log(notices.filter((n) => n.includes('with item')).at(-1))
await client.end()
