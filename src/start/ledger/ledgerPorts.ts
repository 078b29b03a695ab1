import type { LedgerConfig } from '../../config/ledgerConfig.ts'
import type { SealStep } from '../../jobs/sealJob.ts'
import type { TreeHead } from '@tollbook/core/merkle'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import type { PaymentLifecycle } from '../../payment/paymentLifecycle.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { newId } from '@tollbook/core/id'
import { type BurnDebt, readBurnDebt } from '../../reports/burnDebt.ts'
import { findBurnOf } from '../../reports/burnOfPayment.ts'
import { burnStats } from '../../reports/burnStats.ts'
import { readSealedTree, type SealedTree } from '../../reports/sealedTree.ts'
import { requireStoredCheckpoint } from '../../store/checkpointFile.ts'
import { readOrFault } from '../../store/database.ts'
import { createNewsStore, type NewsStore } from '../../store/newsStore.ts'
import { type Ledger, openLedger } from '../../store/openLedger.ts'
import { dropOldQuotes, quoteRetentionDays } from '../../store/quoteRetention.ts'
import { sealNext } from '../../store/sealer.ts'
import { type OpenReports, openReports, type ReportsOptions } from './openReports.ts'
import type { PartDeps } from '../partDeps.ts'

/** The database of the ledger, as ports. The handle stays in here. */
export interface LedgerPorts {
  readonly payments: PaymentLedger
  readonly lifecycle: PaymentLifecycle
  readonly presentations: Ledger['presentations']
  readonly priceLists: Ledger['priceLists']
  readonly settings: Ledger['settings']
  readonly upkeep: Pick<
    Ledger,
    | 'findDurabilityProblem'
    | 'readDatabaseClockMs'
    | 'history'
    | 'addPartitions'
    | 'forgetOldAnswers'
    | 'forgetOldPresentations'
  > & {
    dropOldQuotes(): Promise<readonly string[]>
    showQuoteStorage(): Promise<void>
  }
  readonly seal: SealPort
  /** Tells other instances how busy clients are. */
  readonly shareRates: Ledger['shareRates']
  openNews(options: { readonly isSample: boolean }): NewsStore
  burnDebt(terms: Pick<PaymentTerms, 'mint'>): Promise<BurnDebt>
  burnReads(terms: PaymentTerms): BurnReads
  /** Opens a separate pool. */
  openReports(options: Pick<ReportsOptions, 'token' | 'readDatabaseUrl'>): OpenReports
  close(): Promise<void>
}

/** Public reads of burns. */
export interface BurnReads {
  burnStats(): Promise<Readonly<Record<string, Json>>>
  /** Finds a burn by payment reference or bare signature. Undefined when the ledger has no such payment. */
  burnOf(reference: string): Promise<Json | undefined>
}

export interface SealPort {
  readonly tree: SealedTree
  readonly history: Ledger['history']
  /** Throws when the ledger is older than the checkpoint in the file, or another one. */
  requireCheckpoint(file: string): Promise<void>
  sealNext(sign: (tree: TreeHead) => string): Promise<SealStep>
}

/** The ledger of this instance, under a random application name. */
export async function openLedgerPorts(config: LedgerConfig, deps: PartDeps): Promise<LedgerPorts> {
  const { clock, log, metrics } = deps
  const { databaseUrl } = config
  const store = await openLedger({
    ...config,
    applicationName: newId('instance'),
    clock,
    log,
    onFlush: metrics.onFlush,
  })
  const { database } = store
  return {
    payments: store.payments,
    lifecycle: store.lifecycle,
    presentations: store.presentations,
    priceLists: store.priceLists,
    settings: store.settings,
    upkeep: { ...store, ...quoteUpkeep(databaseUrl, { log, metrics, store }) },
    seal: {
      tree: readSealedTree(database),
      history: store.history,
      requireCheckpoint: (file) => requireStoredCheckpoint(database, file),
      sealNext: (sign) => sealNext({ ...store, sign }),
    },
    shareRates: store.shareRates,
    openNews: (options) => createNewsStore(database, options),
    openReports: (options) => openReports({ databaseUrl, log, ...options }),
    burnDebt: ({ mint }) => readOrFault('owed burns', () => readBurnDebt(database, mint)),
    burnReads: (terms) => ({
      burnStats: () => burnStats({ database, clock }, terms),
      burnOf: (reference) => findBurnOf(database, reference),
    }),
    close: () => store.close(),
  }
}

interface QuoteUpkeepDeps extends Pick<PartDeps, 'log' | 'metrics'> {
  readonly store: Pick<Ledger, 'readQuoteStorage'>
}

function quoteUpkeep(databaseUrl: string, { log, metrics, store }: QuoteUpkeepDeps) {
  return {
    dropOldQuotes: () => dropOldQuotes({ databaseUrl, log }),
    showQuoteStorage: async () =>
      metrics.onQuoteStorage({ ...(await store.readQuoteStorage()), retentionDays: quoteRetentionDays }),
  }
}
