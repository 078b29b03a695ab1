import { readFileSync } from 'node:fs'
import { startLedgerServer } from './ledgerServer.ts'
import { claimOf, fulfilmentOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { paymentItem, appendArguments } from '../src/store/appendBatch.ts'
import pg from 'pg'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const client = new pg.Client({ connectionString: db.serviceUrl })
await client.connect()
const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
const cpu = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
const me = () => { const u = process.cpuUsage(); return u.user + u.system }
const calls = 150
for (const n of [1, 16, 32, 64, 1, 16, 32, 64]) {
  const batches = Array.from({ length: calls + 20 }, () => appendArguments(Array.from({ length: n }, () => paymentItem(claimOf(sampleSettlement()).change))))
  let c0 = 0, m0 = 0; const walls: number[] = []
  for (const [i, b] of batches.entries()) {
    if (i === 20) { c0 = cpu(); m0 = me() }
    const t = performance.now()
    await client.query('select * from ledger.append($1::jsonb, $2::bytea)', [b.batch, b.bodies])
    if (i >= 20) walls.push(performance.now() - t)
  }
  walls.sort((a, b) => a - b)
  console.log(`n=${n} server cpu/call ${((cpu() - c0) / calls).toFixed(0)}us node cpu ${((me() - m0) / calls).toFixed(0)}us wall min ${(walls[0]! * 1000).toFixed(0)} med ${(walls[75]! * 1000).toFixed(0)}us json ${batches[0]!.batch.length}`)
}
// node encoding
let t0 = me(); for (let i = 0; i < 200; i++) appendArguments(Array.from({ length: 16 }, () => paymentItem(claimOf(sampleSettlement()).change))); console.log('node build per claim us', (me() - t0) / 3200)
const ss = Array.from({ length: 3200 }, () => claimOf(sampleSettlement()).change)
t0 = me(); const its = ss.map(paymentItem); console.log('paymentItem us', (me() - t0) / 3200)
t0 = me(); for (let i = 0; i < 200; i++) appendArguments(its.slice(i * 16, i * 16 + 16)); console.log('appendArguments us', (me() - t0) / 3200)
await client.end()
