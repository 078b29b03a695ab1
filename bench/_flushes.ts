import { startLedgerServer } from './ledgerServer.ts'
import { openDatabase } from '../src/store/database.ts'
import { createBatchQueue } from '../src/store/batchQueue.ts'
import { appendArguments, paymentItem, type AppendItem } from '../src/store/appendBatch.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { silentLog } from '../src/primitives/log.ts'
import { sql } from 'kysely'
import pg from 'pg'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const admin = new pg.Pool({ connectionString: db.adminUrl, max: 32 })
admin.on('error', () => undefined)
await admin.query('create table public.plain (id bigserial primary key, sig bytea, body text)')
const database = openDatabase({ databaseUrl: db.serviceUrl, applicationName: 'b', connectionsMax: 12, log: silentLog })
const queues = Object.fromEntries([1, 2, 3].map((flushesMax) => [flushesMax, createBatchQueue<AppendItem, object>({ batchMax: 64, flushesMax, waitingMax: 10000, keyOf: (i) => i.stream, flush: async (batch) => { const { batch: json, bodies } = appendArguments(batch); const { rows } = await sql<any>`select * from ledger.append(${json}::jsonb, ${bodies}::bytea)`.execute(database); return rows } })]))
const seconds = 2
async function run(callers: number, one: () => Promise<unknown>) {
  const start = performance.now(), end = start + seconds * 1000; let n = 0
  await Promise.all(Array.from({ length: callers }, async () => { while (performance.now() < end) { await one(); n++ } }))
  return n / ((performance.now() - start) / 1000)
}
const insert = () => admin.query({ name: 'ins', text: 'insert into public.plain (sig, body) values ($1, $2)', values: [Buffer.alloc(64, 1), 'x'.repeat(265)] })
const claim = (f: number) => async () => { await queues[f]!.submit(paymentItem(claimOf(sampleSettlement()).change)) }
await run(32, insert); await run(32, claim(2))
for (let i = 0; i < 5; i++) {
  const a = await run(32, insert), b1 = await run(32, claim(1)), b2 = await run(32, claim(2)), c1 = await run(128, claim(1)), c2 = await run(128, claim(2)), o = await run(1, insert)
  console.log(`insert32 ${a.toFixed(0)} insert1 ${o.toFixed(0)} | 32: one ${b1.toFixed(0)} (${(b1 / a).toFixed(2)}) two ${b2.toFixed(0)} (${(b2 / a).toFixed(2)}) | 128: one ${c1.toFixed(0)} two ${c2.toFixed(0)}`)
}
await database.destroy(); await admin.end()
