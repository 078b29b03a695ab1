import { startLedgerServer } from './ledgerServer.ts'
import { openLedger } from '../src/store/openLedger.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { silentLog } from '../src/primitives/log.ts'
import pg from 'pg'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const ledger = await openLedger({ databaseUrl: db.serviceUrl, applicationName: 'b', clock: systemClock, log: silentLog })
const admin = new pg.Client({ connectionString: db.adminUrl }); await admin.connect()
const end = performance.now() + 8000; let n = 0
const waits = new Map<string, number>()
const sampler = (async () => { while (performance.now() < end) { const { rows } = await admin.query("select state, wait_event_type, wait_event, left(query,30) q from pg_stat_activity where application_name='b' and state<>'idle'"); for (const r of rows) { const k = `${r.wait_event_type}/${r.wait_event} ${r.q}`; waits.set(k, (waits.get(k) ?? 0) + 1) } await new Promise((r) => setTimeout(r, 5)) } })()
let last = 0; const iv = setInterval(() => { console.log(n - last); last = n }, 1000)
await Promise.all(Array.from({ length: 32 }, async () => { while (performance.now() < end) { await ledger.payments.append(claimOf(sampleSettlement()).change); n++ } }))
await sampler; clearInterval(iv)
console.log(n / 8, 'claims/s', [...waits])
console.log((await admin.query("select relname, n_dead_tup, n_live_tup, n_tup_hot_upd, n_tup_upd, pg_relation_size(relid) from pg_stat_user_tables where schemaname='ledger' and n_tup_upd > 0")).rows)
await ledger.close(); await admin.end()
