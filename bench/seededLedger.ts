import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../src/machine/log.ts'
import { type Database, openDatabase } from '../src/store/database.ts'
import { paymentItem } from '../src/store/paymentItem.ts'
import type { LedgerServer } from '../test/proofs/ledgerServer.ts'
import { withAdminSession } from '../test/support/adminSession.ts'
import { claimOf, sampleEvidence, samplePrice, sampleSettlement } from '../test/store/samplePayment.ts'
import { append } from './seedLedger.ts'
import { type BenchOptions, median } from './yardstick.ts'

// Larger batches than the service makes: this only has to be quick, and calls the same function.
export const seedBatch = 500
export const daysBack = 120
const readsPerRound = 200

/** A ledger of made-up claims, written by ledger.append_batch. */
export interface SeededLedger {
  readonly database: Database
  /** Statistics for the planner, which autovacuum has made in an older database. */
  analyze(): Promise<void>
  close(): Promise<void>
}

export async function openSeededLedger(
  server: LedgerServer,
  payments: number,
  { progress }: BenchOptions,
): Promise<SeededLedger> {
  const { serviceUrl, adminUrl } = await server.createDatabase()
  await seed(serviceUrl, payments, progress)
  const database = openDatabase({
    databaseUrl: serviceUrl,
    applicationName: 'bench',
    connectionsMax: 1,
    log: silentLog,
  })
  const analyze = () => withAdminSession(adminUrl, async (admin) => void (await admin.query('vacuum analyze')))
  return { database, analyze, close: () => database.destroy() }
}

/** Median time of one reading. */
export async function readMs(read: () => Promise<unknown>, reads = readsPerRound): Promise<number> {
  const times: number[] = []
  for (let nth = 0; nth < reads; nth++) {
    const startedAtMs = systemClock.monotonicMs()
    await read()
    times.push(systemClock.monotonicMs() - startedAtMs)
  }
  return median(times)
}

const endpoints = ['/api/data/crypto', '/api/data/weather', '/api/data/stock', '/api/data/news', '/api/tools/qrcode']

async function seed(serviceUrl: string, payments: number, progress: (line: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: serviceUrl })
  await client.connect()
  const spanMs = daysBack * 24 * 60 * 60 * 1000
  const firstMs = systemClock.nowMs() - spanMs
  for (let done = 0; done < payments; done += seedBatch) {
    const items = Array.from({ length: Math.min(seedBatch, payments - done) }, (_, offset) => {
      const price = samplePrice(endpoints[(done + offset) % endpoints.length])
      const blockTimeMs = Math.floor(firstMs + (spanMs * (done + offset)) / payments)
      const evidence = sampleEvidence({ blockTimeMs, transactionBase64: undefined })
      return paymentItem(claimOf(sampleSettlement({ price, evidence })).change)
    })
    await append(client, items)
    if (done % 50_000 === 0) progress(`${done} of ${payments} payments seeded`)
  }
  await client.end()
}
