import type { Chain } from '../chain/openChain.ts'
import type { FinanceSettings } from '../config/financeSettings.ts'
import type { SaleSettings } from '../config/saleSettings.ts'
import { explain } from '../diagnosis/explain.ts'
import { refundAfterMs, settleMarginMs } from '../payment/paymentAges.ts'
import { createFinanceAccess } from '../http/financeAccess.ts'
import { createFinanceRoutes } from '../http/financeRoutes.ts'
import type { FinanceServing } from '../http/openServer.ts'
import { repeat } from '../jobs/repeat.ts'
import type { RefundSettings } from '../config/refundSettings.ts'
import type { LedgerPart } from './openLedger.ts'
import { openRefundDecisions } from './openRefundDecisions.ts'
import type { LedgerSettingsPart } from './openSettings.ts'
import type { PartDeps } from './partDeps.ts'

export interface FinanceDeps extends PartDeps {
  readonly ledger: Pick<LedgerPart, 'openReports'>
  readonly chain: Pick<Chain, 'reader' | 'terms'>
  readonly settings: Pick<LedgerSettingsPart, 'allTerms'>
}

export interface Finance {
  /** Undefined while the reports are not served over HTTP. */
  readonly serving: FinanceServing | undefined
  close(): Promise<void>
}

// Each report rolls up at most one step before it is read; this interval keeps the backlog within one step.
const rollUpEveryMs = 1_000

export interface FinanceOptions {
  readonly finance: FinanceSettings | undefined
  readonly sale: Pick<SaleSettings, 'proofMaxAgeMs' | 'quoteGraceMs'>
  readonly refunds: RefundSettings
}

/** The finance reports and their access. Without settings, nothing is rolled up and nothing is served. */
export function openFinance({ finance: settings, sale, refunds }: FinanceOptions, deps: FinanceDeps): Finance {
  if (settings === undefined) return { serving: undefined, close: () => Promise.resolve() }
  const { clock, log, ledger, chain, settings: onRecord } = deps
  const { mint, decimals, network } = chain.terms
  const reports = ledger.openReports({ mint, decimals })
  const rolling = repeat(deps, { name: 'report roll-up', everyMs: rollUpEveryMs, run: () => reports.rollUp() })
  const decisions = openRefundDecisions(refunds, deps, {
    token: { mint, decimals },
    chain: chain.reader,
    allTerms: onRecord.allTerms,
  })
  const routes = createFinanceRoutes({
    clock,
    log,
    access: createFinanceAccess(settings, { clock, log }),
    reports,
    network,
    decideRefund: decisions?.decide,
    publicUrl: settings.publicUrl,
    explain: (text) =>
      explain(
        {
          clock,
          facts: reports.facts,
          chain: chain.reader,
          allTerms: onRecord.allTerms,
          decimals,
          ages: {
            proofMaxAgeMs: sale.proofMaxAgeMs,
            quoteGraceMs: sale.quoteGraceMs,
            settleAgeMs: sale.proofMaxAgeMs + settleMarginMs,
            refundAfterMs,
          },
        },
        text,
      ),
    walletBaseUnits: () => totalBaseUnits(chain.reader, onRecord.allTerms()),
  })
  return {
    serving: { routes, listener: settings.listener },
    async close() {
      await rolling.stop()
      await reports.close()
      await decisions?.close()
    },
  }
}

/** An old payment wallet holds tokens until they are paid out or moved. */
async function totalBaseUnits(
  reader: Chain['reader'],
  wallets: ReturnType<LedgerSettingsPart['allTerms']>,
): Promise<bigint> {
  const balances = await Promise.all(wallets.map(({ paymentWallet: wallet }) => reader.readBalance({ wallet })))
  return balances.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
}
