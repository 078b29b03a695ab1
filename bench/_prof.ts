import { startLedgerServer } from './ledgerServer.ts'
import { openLedger } from '../src/store/openLedger.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { silentLog } from '../src/primitives/log.ts'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const ledger = await openLedger({ databaseUrl: db.serviceUrl, applicationName: 'b', clock: systemClock, log: silentLog })
const end = performance.now() + 6000; let n = 0; const c0 = process.cpuUsage()
await Promise.all(Array.from({ length: 32 }, async () => { while (performance.now() < end) { await ledger.payments.append(claimOf(sampleSettlement()).change); n++ } }))
const c = process.cpuUsage(c0)
console.log(n / 6, 'claims/s, node cpu us per claim', (c.user + c.system) / n)
await ledger.close()
