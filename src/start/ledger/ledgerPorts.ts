import type { LedgerConfig } from '../../config/ledgerConfig.ts'
import type { TreeHead } from '@tollbook/core/merkle'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { newId } from '@tollbook/core/id'
import { readBurnDebt } from '../../reports/burnDebt.ts'
import { findBurnOf } from '../../reports/burnOfPayment.ts'
import { burnStats } from '../../reports/burnStats.ts'
import { readSealedTree } from '../../reports/sealedTree.ts'
import { requireStoredCheckpoint } from '../../store/checkpointFile.ts'
import { createNewsStore } from '../../store/newsStore.ts'
import { openLedger } from '../../store/openLedger.ts'
import { dropOldQuotes, quoteRetentionDays as retentionDays } from '../../store/quoteRetention.ts'
import { sealNext } from '../../store/sealer.ts'
import { openReports, type ReportsOptions } from './openReports.ts'
import type { PartDeps } from '../partDeps.ts'

export type LedgerPorts = Awaited<ReturnType<typeof openLedgerPorts>>
export type SealPort = LedgerPorts['seal']

/** Opens the ledger. Each instance has a random application name. */
export async function openLedgerPorts(config: LedgerConfig, { clock, log, metrics }: PartDeps) {
  const { databaseUrl } = config
  const applicationName = newId('instance')
  const store = await openLedger({ ...config, applicationName, clock, log, onFlush: metrics.onFlush })
  const { database, payments, lifecycle, presentations, priceLists, settings, shareRates, history, tabs } = store
  return {
    payments,
    tabs,
    lifecycle,
    presentations,
    priceLists,
    settings,
    upkeep: {
      ...store,
      dropOldQuotes: () => dropOldQuotes({ databaseUrl, log }),
      showQuoteStorage: async () => metrics.onQuoteStorage({ ...(await store.readQuoteStorage()), retentionDays }),
    },
    seal: {
      tree: readSealedTree(database),
      history,
      /** Throws if the ledger is older than the checkpoint in the file, or is a different ledger. */
      requireCheckpoint: (file: string) => requireStoredCheckpoint(database, file),
      sealNext: (sign: (tree: TreeHead) => string, onUnsealed: (events: number) => void) =>
        sealNext({ ...store, sign, onUnsealed }),
    },
    shareRates,
    openNews: (options: { readonly isSample: boolean }) => createNewsStore(database, options),
    openReports: (options: Pick<ReportsOptions, 'token' | 'readDatabaseUrl'>) =>
      openReports({ databaseUrl, log, ...options }),
    burnDebt: ({ mint }: Pick<PaymentTerms, 'mint'>) => readBurnDebt(database, mint),
    burnReads: (terms: PaymentTerms) => ({
      burnStats: () => burnStats({ database, clock }, terms),
      /** Accepts a payment reference or a bare signature. Undefined if the ledger has no such payment. */
      burnOf: (reference: string) => findBurnOf(database, reference),
    }),
    close: () => store.close(),
  }
}
