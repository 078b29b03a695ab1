import { startLedgerServer } from '/work/main/bench/ledgerServer.ts'
import { openLedger } from '/work/main/src/store/openLedger.ts'
import { claimOf, sampleSettlement } from '/work/main/test/store/samplePayment.ts'
import { systemClock } from '/work/main/src/primitives/clock.ts'
import { silentLog } from '/work/main/src/primitives/log.ts'
import pg from 'pg'
const seconds = Number(process.argv[2] ?? 3), rounds = Number(process.argv[3] ?? 3)
await using server = await startLedgerServer()
const db = await server.createDatabase()
const admin = new pg.Pool({ connectionString: db.adminUrl, max: 32 }); admin.on('error', () => undefined)
await admin.query('create table public.plain (id bigserial primary key, sig bytea, body text)')
let items = 0, flushes = 0, flushMs = 0
const ledger = await openLedger({ databaseUrl: db.serviceUrl, applicationName: 'b', clock: systemClock, log: silentLog, onFlush: (f) => { items += f.items; flushes++; flushMs += f.durationMs } })
const body = 'x'.repeat(265)
async function run(callers: number, one: () => Promise<unknown>) {
  const end = performance.now() + seconds * 1000; const start = performance.now(); let n = 0
  await Promise.all(Array.from({ length: callers }, async () => { while (performance.now() < end) { await one(); n++ } }))
  return n / ((performance.now() - start) / 1000)
}
const insert = () => admin.query({ name: 'ins', text: 'insert into public.plain (sig, body) values ($1, $2)', values: [Buffer.alloc(64, 1), body] })
const claim = async () => { const r = await ledger.payments.append(claimOf(sampleSettlement()).change); if (r.outcome !== 'appended') throw new Error(r.outcome) }
await run(32, insert); await run(32, claim)
for (let i = 0; i < rounds; i++) {
  const a = await run(32, insert); items = flushes = flushMs = 0
  const b = await run(32, claim); const s = `batch ${(items / flushes).toFixed(1)} flush ${(flushMs / flushes).toFixed(2)}ms`
  const c = await run(1, claim)
  console.log(`insert32 ${a.toFixed(0)} claim32 ${b.toFixed(0)} ratio ${(b / a).toFixed(3)} ${s}; claim1 ${c.toFixed(0)}`)
}
await admin.end(); await ledger.close()
