import pg from 'pg'
import type { LedgerServer } from '../test/proofs/ledgerServer.ts'
import { seedLedger } from './seedLedger.ts'
import type { BenchOptions } from './yardstick.ts'

// A payment has five events, and one in twenty a failed attempt more.
const eventsPerPayment = 5.1
const daysBack = 120

/** A ledger of about that many events, vacuumed like an old database. Returns the URL of the service. */
export async function openAgedLedger(
  server: LedgerServer,
  events: number,
  { progress }: BenchOptions,
): Promise<string> {
  const { serviceUrl, adminUrl } = await server.createDatabase()
  await seedLedger(serviceUrl, { payments: Math.ceil(events / eventsPerPayment), daysBack, progress })
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query('vacuum analyze')
  await admin.end()
  return serviceUrl
}
