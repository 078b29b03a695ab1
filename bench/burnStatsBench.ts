import pg from 'pg'
import { systemClock } from '../src/primitives/clock.ts'
import { silentLog } from '../src/primitives/log.ts'
import { burnStats } from '../src/reports/burnStats.ts'
import { appendCall, appendValues, paymentItem } from '../src/store/appendBatch.ts'
import { openDatabase } from '../src/store/database.ts'
import { type LedgerServer, startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { claimOf, sampleMint, samplePrice, sampleSettlement } from '../test/store/samplePayment.ts'
import { type Bench, type BenchOptions, median } from './yardstick.ts'

const few = 1_000
// Larger batches than the service makes: this only has to be quick, and runs the same function.
const seedBatch = 500
const daysBack = 120
const readsPerRound = 200

export const burnStatsBench: Bench = {
  name: 'burn-stats',
  about: 'burn statistics of a long book against those of a short one, both seeded through ledger.append',
  async run(options) {
    await using server = await startLedgerServer()
    const { rounds, payments, progress } = options
    const [short, long] = [await openBook(server, few, options), await openBook(server, payments, options)]
    try {
      const ratios: { short: number; long: number }[] = []
      for (let round = 0; round <= rounds; round++) {
        const result = { short: await short.readMs(), long: await long.readMs() }
        if (round > 0) ratios.push(result)
        progress(
          `burn-stats: round ${round} of ${rounds}, ${result.short.toFixed(2)} ms and ${result.long.toFixed(2)} ms`,
        )
      }
      const value = median(ratios.map((round) => round.long / round.short))
      const what = `burn-stats at ${payments} payments ÷ at ${few}`
      const detail = `${median(ratios.map((round) => round.long)).toFixed(2)} ms and ${median(ratios.map((round) => round.short)).toFixed(2)} ms a call, seeded by ledger.append in batches of ${seedBatch} over ${daysBack} days`
      return [{ what, value, goal: { atMost: 1.2 }, detail }]
    } finally {
      await short.close()
      await long.close()
    }
  },
}

interface Book {
  /** Median time of one reading. */
  readMs(): Promise<number>
  close(): Promise<void>
}

async function openBook(server: LedgerServer, payments: number, { progress }: BenchOptions): Promise<Book> {
  const { serviceUrl } = await server.createDatabase()
  await seed(serviceUrl, payments, progress)
  const database = openDatabase({
    databaseUrl: serviceUrl,
    applicationName: 'bench',
    connectionsMax: 1,
    log: silentLog,
  })
  const read = () => burnStats({ database, clock: systemClock }, { mint: sampleMint, decimals: 6 })
  return {
    async readMs() {
      const times: number[] = []
      for (let nth = 0; nth < readsPerRound; nth++) {
        const startedAtMs = systemClock.monotonicMs()
        await read()
        times.push(systemClock.monotonicMs() - startedAtMs)
      }
      return median(times)
    },
    close: () => database.destroy(),
  }
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
      return paymentItem(claimOf(sampleSettlement({ price, blockTimeMs, transactionBase64: undefined })).change)
    })
    await client.query(appendCall, [...appendValues(items)])
    if (done % 50_000 === 0) progress(`burn-stats: ${done} of ${payments} payments seeded`)
  }
  await client.end()
}
