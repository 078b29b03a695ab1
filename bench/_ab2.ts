import { startLedgerServer } from './ledgerServer.ts'
import { openDatabase } from '../src/store/database.ts'
import { createEventStore } from '../src/store/eventStore.ts'
import { paymentItem } from '../src/store/appendBatch.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { silentLog } from '../src/primitives/log.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { callsPerSecond } from './callers.ts'
import pg from 'pg'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const admin = new pg.Pool({ connectionString: db.adminUrl, max: 32 }); admin.on('error', () => undefined)
await admin.query('create table public.plain (id bigserial primary key, sig bytea, body text)')
const database = openDatabase({ databaseUrl: db.serviceUrl, applicationName: 'b', connectionsMax: 12, log: silentLog })
let items = 0, flushes = 0, ms = 0
const store = createEventStore({ database, clock: systemClock, log: silentLog, outcomeTimeoutMs: 15000, onFlush: (f) => { items += f.items; flushes++; ms += f.durationMs } })
const pool: any[] = []
const next = () => { if (pool.length === 0) for (let i = 0; i < 20000; i++) pool.push(sampleSettlement()); return pool.pop() }
const claim = () => store.submit(paymentItem(claimOf(next()).change))
const insert = async () => {}
const S = Number(process.argv[2] ?? 2)
next(); await callsPerSecond(32, S, insert); await callsPerSecond(32, S, claim)
const ratios: number[] = []
for (let i = 0; i < Number(process.argv[3] ?? 5); i++) {
  next()
  const a = await callsPerSecond(32, S, insert)
  items = flushes = ms = 0
  const c = await callsPerSecond(32, S, claim); const d = `${(items / flushes).toFixed(0)}/${(ms / flushes).toFixed(1)}ms`
  const i1 = await callsPerSecond(1, S / 2, insert), c1 = await callsPerSecond(1, S / 2, claim), c128 = await callsPerSecond(128, S, claim)
  ratios.push(c / a)
  console.log(`insert32 ${a.toFixed(0)} claim32 ${c.toFixed(0)} (${d}) ratio ${(c / a).toFixed(2)} | insert1 ${i1.toFixed(0)} claim1 ${c1.toFixed(0)} claim128 ${c128.toFixed(0)}`)
}
console.log('median', ratios.sort()[Math.floor(ratios.length / 2)])
await database.destroy(); await admin.end()
