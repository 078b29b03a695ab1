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
const names = ['append']
for (const f of process.argv.slice(2)) { await client.query(readFileSync(f, 'utf8')); names.push('append_' + f.match(/(\w+)\.sql/)![1]) }
const results = new Map<string, number[]>()
const calls = 60
for (let round = 0; round < 7; round++) for (const n of [1, 32]) for (const k of names) {
  const batches = Array.from({ length: calls + 3 }, () => {
    const b = appendArguments(Array.from({ length: n }, () => paymentItem(claimOf(sampleSettlement()).change)))
    if (k === 'append') return b
    const j = JSON.parse(b.batch)
    for (const it of j.items) it.events = 3
    for (const e of j.events) { e.effective_ms = Date.parse(e.effective_at); delete e.effective_at }
    return { ...b, batch: JSON.stringify(j) }
  })
  
  let c0 = 0
  for (const [i, b] of batches.entries()) { if (i === 3) c0 = cpu(); const r = await client.query({ name: k, text: `select * from ledger.${k}($1::jsonb, $2::bytea)`, values: [b.batch, b.bodies] }); if (r.rows.some((x) => x.refusal !== null || x.positions.length !== 3)) throw new Error('bad') }
  const c = (cpu() - c0) / calls
  
  const key = `${k} n=${n}`; results.set(key, [...(results.get(key) ?? []), c])
}
for (const [k, v] of [...results].sort()) { v.sort((a, b) => a - b); console.log(k.padEnd(24), 'min', v[0]!.toFixed(0), 'med', v[3]!.toFixed(0)) }
await client.end()
