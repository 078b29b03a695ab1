import { createLedger, type LedgerDeps } from '@tollbook/ledger/ledger'
import { createAppendHealth } from '@tollbook/ledger/appendHealth'
import { openDatabase as openPool } from '@tollbook/ledger/database'
import type { LedgerKernel } from '@tollbook/ledger/port'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import type { PaymentLifecycle } from '../payment/paymentLifecycle.ts'
import type { Presentations } from '../payment/presentations.ts'
import type { Log } from '../primitives/log.ts'
import { type Database, databaseOn } from './database.ts'
import { findDurabilityProblem } from './durability.ts'
import { addPartitions, forgetOldAnswers, forgetOldPresentations } from './housekeeping.ts'
import { createPaymentLifecycle } from './lifecycleStore.ts'
import { createPaymentLedger } from './paymentStore.ts'
import { createPresentations } from './presentationStore.ts'
import { createPriceListStore, type PriceListStore } from './priceListStore.ts'
import { createQuoteQueue } from './quoteStore.ts'
import { checkSchemaVersion } from './schemaVersion.ts'
import { createSentAnswers } from './sentAnswers.ts'
import { createSettingStore, type SettingStore } from './settingStore.ts'

export interface LedgerOptions extends Pick<LedgerDeps, 'onFlush'> {
  readonly databaseUrl: string
  readonly applicationName: string
  readonly clock: Clock
  readonly log: Log
}

/** The ledger of the service, as the ports of its callers. */
export interface Ledger {
  readonly payments: PaymentLedger
  /** Payments after their answers. */
  readonly lifecycle: PaymentLifecycle
  readonly presentations: Presentations
  readonly priceLists: PriceListStore
  readonly settings: SettingStore
  /** For kinds of streams that this service does not know. */
  readonly kernel: LedgerKernel
  /** For the sealer, the news and the reports; nothing else reads tables. */
  readonly database: Database
  findDurabilityProblem(): Promise<string | undefined>
  addPartitions(): Promise<void>
  forgetOldAnswers(): Promise<void>
  forgetOldPresentations(): Promise<void>
  /** Writes what is queued, then closes. */
  close(): Promise<void>
}

// Two for appends, two for quotes, the rest for lookups; Postgres answers those in well under a millisecond.
const connectionsMax = 12
// Maximum duration of a failover before callers get an unknown outcome.
const outcomeTimeoutMs = 15_000

/** Refuses to open a database whose schema is not this program's. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { clock, log, onFlush } = options
  const pool = openPool({ ...options, connectionsMax })
  const database = databaseOn(pool)
  await requireSchema(database, log)
  const inner = createLedger({ pool, clock, log, outcomeTimeoutMs, ...(onFlush === undefined ? {} : { onFlush }) })
  const { kernel, findProblem } = createAppendHealth({ kernel: inner, pool, clock })
  const nowMs = () => clock.nowMs()
  const quotes = createQuoteQueue(database)
  const sentAnswers = createSentAnswers({ database, clock, log })
  const priceLists = createPriceListStore({ database, kernel, nowMs })
  return {
    payments: createPaymentLedger({ database, kernel, quotes, priceLists, sentAnswers }),
    lifecycle: createPaymentLifecycle({ database, kernel }),
    presentations: createPresentations(database),
    priceLists,
    settings: createSettingStore({ database, kernel, nowMs }),
    kernel,
    database,
    findDurabilityProblem: async () => (await findDurabilityProblem(database)) ?? (await findProblem()),
    addPartitions: () => addPartitions(database),
    forgetOldAnswers: () => forgetOldAnswers(database),
    forgetOldPresentations: () => forgetOldPresentations(database),
    async close() {
      await Promise.all([kernel.drained(), quotes.drained(), sentAnswers.close()])
      await database.destroy()
    },
  }
}

async function requireSchema(database: Database, log: Log): Promise<void> {
  try {
    const schema = await checkSchemaVersion(database)
    if (!schema.fits) throw new Fault(schema.advice, { retryable: false })
    if (schema.difference !== undefined) log.warn({ event: 'schema_newer', difference: schema.difference })
  } catch (error) {
    await database.destroy()
    throw error instanceof Fault
      ? error
      : new Fault('the database of DATABASE_URL cannot be reached', { cause: error, retryable: true })
  }
}
