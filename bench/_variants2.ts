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
const me = () => { const u = process.cpuUsage(); return u.user + u.system }
const names = ['append']
const col = (rows: any[], k: string) => rows.map((r) => r[k])
const arrays = (b: any) => { const { items: I, events: E, entries: T } = JSON.parse(b.batch); return [col(I, 'stream'), I.map((r: any) => Buffer.from(r.signature, 'hex')), ...['expected', 'state', 'wallet', 'endpoint', 'attempt', 'lease_ms', 'quote_id', 'idempotency_key', 'order_digest', 'answer'].map((k) => col(I, k)), E.map((e: any) => e.i + 1), col(E, 'version'), col(E, 'kind'), E.map((e: any) => Date.parse(e.effective_at)), col(E, 'length'), T.map((t: any) => t.i * 3 + t.k + 1), col(T, 'line'), col(T, 'account'), col(T, 'mint'), col(T, 'amount'), b.bodies] }
const isArrays = (k: string) => /v[3-9]/.test(k)
const params = Array.from({ length: 23 }, (_, i) => '$' + (i + 1)).join(', ')
for (const x of (process.env.ALTER ?? '').split(';').filter(Boolean)) await client.query(x)
for (const f of process.argv.slice(2)) { await client.query(readFileSync(f, 'utf8')); names.push('append_' + f.match(/(\w+)\.sql/)![1]) }
const results = new Map<string, number[]>()
const calls = 60
for (let round = 0; round < 7; round++) for (const n of [1, 32]) for (const k of names) {
  const batches = Array.from({ length: calls + 3 }, () => {
    const b = appendArguments(Array.from({ length: n }, () => paymentItem(claimOf(sampleSettlement()).change)))
    if (k === 'append') return b
    if (isArrays(k)) return { values: arrays(b) }
    const j = JSON.parse(b.batch)
    for (const it of j.items) it.events = 3
    for (const e of j.events) { e.effective_ms = Date.parse(e.effective_at); delete e.effective_at }
    return { ...b, batch: JSON.stringify(j) }
  })
  
  let c0 = 0, m0 = 0
  for (const [i, b] of batches.entries()) { if (i === 3) { c0 = cpu(); m0 = me() } const r = await client.query({ name: k, text: isArrays(k) ? `select * from ledger.${k}(${params})` : `select * from ledger.${k}($1::jsonb, $2::bytea)`, values: isArrays(k) ? (b as any).values : [(b as any).batch, (b as any).bodies] }); if (r.rows.some((x) => x.refusal !== null || (x.positions.length !== 3 && k !== 'append_v5' && k !== 'append_v6'))) throw new Error('bad') }
  const c = (cpu() - c0) / calls
  
  const mm = (me() - m0) / calls; results.set(k + ` node n=${n}`, [...(results.get(k + ` node n=${n}`) ?? []), mm]); const key = `${k} n=${n}`; results.set(key, [...(results.get(key) ?? []), c])
}
for (const [k, v] of [...results].sort()) { v.sort((a, b) => a - b); console.log(k.padEnd(24), 'min', v[0]!.toFixed(0), 'med', v[3]!.toFixed(0)) }
await client.end()
