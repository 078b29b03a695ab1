import { createLedger, type LedgerDeps } from '@tollbook/ledger/ledger'
import { createAppendHealth } from '@tollbook/ledger/appendHealth'
import { openDatabase as openPool, type QueryRunner } from '@tollbook/ledger/database'
import { createHistory } from '@tollbook/ledger/history'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { type Database, databaseOn, isDenied } from './database.ts'
import { findLoginProblem, readDatabaseClockMs, readLoginPower, serviceLoginFix } from './databaseFacts.ts'
import { findCommitProblem, findDurabilityProblem } from './durability.ts'
import { createElection } from './election.ts'
import { addPartitions, forgetOldAnswers, forgetOldPresentations } from './housekeeping.ts'
import { createPaymentLifecycle } from './lifecycleStore.ts'
import { createPaymentLedger } from './paymentStore.ts'
import { createPresentations } from './presentationStore.ts'
import { createPriceListStore } from './priceListStore.ts'
import { readQuoteStorage } from './quoteRetention.ts'
import { createQuoteQueue } from './quoteStore.ts'
import { checkSchemaVersion } from './schemaVersion.ts'
import { type RateCountReport, shareRates } from './rateCounts.ts'
import { createSentAnswers } from './sentAnswers.ts'
import { createTabStore } from './tabStore.ts'
import { createSettingStore } from './settingStore.ts'

export interface LedgerOptions extends Pick<LedgerDeps, 'onFlush'> {
  readonly databaseUrl: string
  readonly applicationName: string
  readonly clock: Clock
  readonly log: Log
  /**
   * True: paid routes open only while every acknowledged commit is also on a standby, so that a promotion loses no
   * commit.
   */
  readonly requiresStandby?: boolean
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>

// Maximum of connections: two for appends, the rest for lookups and jobs. Postgres answers lookups in well under a
// millisecond, so few connections suffice.
const connectionsMax = 10
// Maximum of connections for requests without a verified payment: two for quotes, two for lookups. A flood of quotes
// does not affect the other pool, which serves claims.
const strangerConnectionsMax = 4
// An append waits this long for a failover. After this time its outcome is reported as unknown.
const outcomeTimeoutMs = 15_000
// Time after the first sending of an answer during which it may be sent again. A client repeats a request within
// seconds. A person who was asked to repeat a request needs a minute or two.
const repeatMs = 120_000
// Longer than 8 s: any instance detects within 3 s that its server is down, and compares the new server within 5 s.
const promotionWaitMs = 10_000

/**
 * Opens the ledger. Throws if the schema does not fit this program, and warns if the login could bypass the ledger's
 * protection.
 */
export async function openLedger(options: LedgerOptions) {
  const { clock, log, onFlush, requiresStandby = false } = options
  const history = createHistory({
    clock,
    log,
    reporter: options.applicationName,
    promotionWaitMs: requiresStandby ? 0 : promotionWaitMs,
  })
  let schemaFits = false
  // Compare the history at every reconnect, because another server may have taken over the address.
  const onConnect = async (connection: QueryRunner) => {
    if (schemaFits) await history.compare(connection)
  }
  const pool = openPool({ ...options, connectionsMax, onConnect })
  const database = databaseOn(pool)
  await requireFitDatabase(database, log)
  schemaFits = true
  const strangerPool = openPool({ ...options, connectionsMax: strangerConnectionsMax, onConnect })
  const strangers = databaseOn(strangerPool)
  await history.compare(pool).catch(refuseOtherLogins)
  const inner = createLedger({
    pool,
    clock,
    log,
    history,
    outcomeTimeoutMs,
    ...(onFlush === undefined ? {} : { onFlush }),
  })
  const { kernel, findProblem } = createAppendHealth({ kernel: inner, pool })
  const election = createElection({ database, clock, log, holder: options.applicationName })
  const quotes = createQuoteQueue(strangerPool)
  const sentAnswers = createSentAnswers({ database, clock, log, repeatMs })
  const priceLists = createPriceListStore({ database, kernel, nowMs: () => clock.nowMs() })
  const tabs = createTabStore({ database, pool, kernel, clock })
  return {
    payments: createPaymentLedger({ pool, strangers, kernel, log, quotes, priceLists, sentAnswers, tabs, repeatMs }),
    tabs,
    lifecycle: createPaymentLifecycle({ database, kernel, election }),
    presentations: createPresentations(strangers),
    priceLists,
    settings: createSettingStore({ database, kernel, nowMs: () => clock.nowMs() }),
    /** Kernel for stream kinds that this service does not use itself. */
    kernel,
    database,
    history,
    /**
     * Throws a Fault unless the database continues the ledger that this instance has seen, so that nothing is signed
     * over a restored backup.
     */
    requireHistory: () => history.compare(pool),
    election,
    findDurabilityProblem: async () =>
      (await findDurabilityProblem(database, { requiresStandby })) ?? (await findProblem()) ?? findCommitProblem(pool),
    readDatabaseClockMs: () => readDatabaseClockMs(database),
    addPartitions: () => addPartitions(database),
    forgetOldAnswers: () => forgetOldAnswers(database, repeatMs),
    forgetOldPresentations: () => forgetOldPresentations(database),
    readQuoteStorage: () => readQuoteStorage(strangers),
    shareRates: (reports: readonly RateCountReport[]) => shareRates(strangers, reports),
    async close() {
      await Promise.all([kernel.drained(), quotes.drained(), sentAnswers.close()])
      await database.destroy()
      // Kysely does not end a pool that it has not used. A ledger may be closed twice, and a pool ends only once.
      if (!strangerPool.ending) await strangerPool.end()
    },
  }
}

/**
 * Throws a `Fault` with advice if the login lacks the rights of the service. This comparison is the first query that
 * fails for a login that may only read the ledger.
 */
function refuseOtherLogins(error: unknown): never {
  if (!isDenied(error)) throw error
  const advice = 'the login of DATABASE_URL lacks rights of the service; make it a member of tollbook_service'
  throw new Fault(advice, { cause: error, retryable: false })
}

async function requireFitDatabase(database: Database, log: Log): Promise<void> {
  try {
    const schema = await checkSchemaVersion(database)
    if (!schema.fits) throw new Fault(schema.advice, { retryable: false })
    if (schema.difference !== undefined) log.warn({ event: 'schema_newer', difference: schema.difference })
    const problem = findLoginProblem(await readLoginPower(database))
    // Only warn: a first trial with the only login of a database must start. `tollbook doctor` reports a failure.
    if (problem !== undefined) log.warn({ event: 'login_unprotected', problem, fix: serviceLoginFix })
  } catch (error) {
    await database.destroy()
    throw error instanceof Fault
      ? error
      : new Fault('the database of DATABASE_URL cannot be reached', { cause: error, retryable: true })
  }
}
