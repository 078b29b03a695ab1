import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import type { PriceListPublished } from '../payment/events.ts'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import type { PaymentLife } from '../payment/paymentLife.ts'
import { type Database, openDatabase } from './database.ts'
import { findDurabilityProblem } from './durability.ts'
import { createEventStore, type EventStoreDeps } from './eventStore.ts'
import { addPartitions, forgetOldAnswers } from './housekeeping.ts'
import { createPaymentLife } from './postgresPaymentLife.ts'
import { createPostgresPaymentLedger } from './postgresPaymentLedger.ts'
import { appendPriceList, newestPriceList, type PriceListOnRecord, publishPriceList } from './priceListStore.ts'
import { createQuoteQueue } from './quoteStore.ts'
import { checkSchemaVersion } from './schemaVersion.ts'

export interface LedgerOptions extends Pick<EventStoreDeps, 'onFlush'> {
  readonly databaseUrl: string
  readonly applicationName: string
  readonly clock: Clock
  readonly log: Log
}

/** The write side of the ledger, opened. */
export interface Ledger {
  readonly payments: PaymentLedger
  /** For the read side. */
  readonly database: Database
  findDurabilityProblem(): Promise<string | undefined>
  publishPrices(list: PriceListPublished): Promise<void>
  newestPriceList(): Promise<PriceListOnRecord | undefined>
  /** False when the list of that version is not the newest any more: somebody else has published. */
  appendPriceList(list: PriceListPublished, expectedVersion: number): Promise<boolean>
  /** What happens to payments after their answers. */
  readonly life: PaymentLife
  addPartitions(): Promise<void>
  forgetOldAnswers(): Promise<void>
  /** Writes what is queued, then closes. */
  close(): Promise<void>
}

// Two for appends, two for quotes, the rest for look-ups; Postgres answers those in well under a millisecond.
const connectionsMax = 12
// How long a failover may take before callers are told that we do not know.
const outcomeTimeoutMs = 15_000

/** Refuses to open a database whose schema is not this program's. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { clock, log, onFlush } = options
  const database = openDatabase({ ...options, connectionsMax })
  try {
    const schema = await checkSchemaVersion(database)
    if (!schema.fits) throw new Fault(schema.advice, { retryable: false })
  } catch (error) {
    await database.destroy()
    throw error instanceof Fault
      ? error
      : new Fault('the database of DATABASE_URL cannot be reached', { cause: error, retryable: true })
  }
  const events = createEventStore({
    database,
    clock,
    log,
    outcomeTimeoutMs,
    ...(onFlush === undefined ? {} : { onFlush }),
  })
  const quotes = createQuoteQueue(database)
  return {
    payments: createPostgresPaymentLedger({ database, events, quotes }),
    database,
    findDurabilityProblem: () => findDurabilityProblem(database),
    publishPrices: (list) => publishPriceList({ database, events }, list, clock.nowMs()),
    newestPriceList: () => newestPriceList(database),
    appendPriceList: (list, expectedVersion) =>
      appendPriceList({ database, events }, list, { expectedVersion, nowMs: clock.nowMs() }),
    life: createPaymentLife(database),
    addPartitions: () => addPartitions(database),
    forgetOldAnswers: () => forgetOldAnswers(database),
    async close() {
      await Promise.all([events.drained(), quotes.drained()])
      await database.destroy()
    },
  }
}
