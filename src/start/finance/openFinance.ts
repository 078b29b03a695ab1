import type { Chain } from '../../chain/openChain.ts'
import type { FinanceConfig } from '../../config/financeConfig.ts'
import { explain } from '../../diagnosis/explain.ts'
import { reconcile } from '../../diagnosis/reconcile.ts'
import { createFinanceAccess } from '../../financeApi/financeAccess.ts'
import { createFinanceRoutes } from '../../financeApi/financeRoutes.ts'
import type { FreeRoute } from '../../transport/freeRoute.ts'
import type { FinanceServing } from '../../routes/openServer.ts'
import { paymentStatusRoute } from '../../routes/paymentStatusRoute.ts'
import { statementRoute, type WriteStatement } from '../../routes/statementRoute.ts'
import { startMoneyMetrics } from '../../jobs/moneyMetricsJob.ts'
import { repeat } from '../../jobs/repeat.ts'
import type { RefundConfig } from '../../config/financeConfig.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { OpenReports } from '../ledger/openReports.ts'
import { createFindPaymentStatus } from './openPaymentStatus.ts'
import { openRefundDecisions } from './openRefundDecisions.ts'
import type { LedgerSettingsPart } from '../ledger/openSettings.ts'
import type { PartDeps } from '../partDeps.ts'

export interface FinanceDeps extends PartDeps {
  readonly ledger: Pick<LedgerPart, 'openReports' | 'payments' | 'settings' | 'keys'>
  readonly chain: Pick<Chain, 'reader' | 'finality' | 'terms'>
}

export interface Finance {
  /** Undefined while the reports are not served over HTTP. */
  readonly serving: FinanceServing | undefined
  /** For payers, on the public listener. */
  readonly routes: readonly FreeRoute[]
  close(): Promise<void>
}

// Each report rolls up at most one step before it is read; this interval keeps the backlog within one step.
const rollUpEveryMs = 1_000

export interface FinanceOptions {
  /** Undefined: nothing is rolled up, and nothing is served over HTTP. */
  readonly access: FinanceConfig | undefined
  readonly refunds: RefundConfig
  readonly reportsDatabaseUrl: string | undefined
  /** Base of the public routes: empty on the same listener, undefined without PUBLIC_URL. */
  readonly publicUrl: string | undefined
}

/** The finance reports and their access. Without an issuer, nothing is rolled up and nothing is served. */
export function openFinance(options: FinanceOptions, deps: FinanceDeps): Finance {
  const { access, refunds, reportsDatabaseUrl: readDatabaseUrl, publicUrl } = options
  const { clock, log, ledger, chain } = deps
  const { settings, keys } = ledger
  const { mint, decimals, network } = chain.terms
  // Connects when it is first asked.
  const reports = ledger.openReports({ token: { mint, decimals }, readDatabaseUrl })
  const payerRoutes = createPayerRoutes(deps, reports)
  if (access === undefined) return { serving: undefined, routes: payerRoutes, close: () => reports.close() }
  const rolling = repeat(deps, { name: 'report roll-up', everyMs: rollUpEveryMs, run: () => reports.rollUp() })
  const walletBaseUnits = () => totalBaseUnits(chain.reader, settings.allTerms())
  const showing = startMoneyMetrics({
    clock,
    log,
    readFigures: reports.money,
    walletBaseUnits,
    onMoney: deps.metrics.onMoney,
  })
  const decisions = openRefundDecisions(refunds, deps, {
    token: { mint, decimals },
    chain: chain.reader,
    allTerms: settings.allTerms,
  })
  const routes = createFinanceRoutes({
    clock,
    log,
    access: createFinanceAccess(access, { clock, log }),
    reports,
    network,
    decideRefund: decisions?.decide,
    signClosing: keys.signClosing,
    publicUrl: access.listener === undefined ? '' : publicUrl,
    explain: (text) =>
      explain(
        {
          clock,
          facts: reports.facts,
          chain: chain.reader,
          allTerms: settings.allTerms,
          decimals,
        },
        text,
      ),
    reconcile: () => reconcile({ clock, facts: reports.facts, chain, allTerms: settings.allTerms }),
    walletBaseUnits,
  })
  return {
    serving: { routes, listener: access.listener },
    routes: payerRoutes,
    async close() {
      await showing.stop()
      await rolling.stop()
      await reports.close()
      await decisions?.close()
    },
  }
}

/** Routes for the holders of wallets, on the public listener. */
function createPayerRoutes({ clock, log, ledger }: FinanceDeps, reports: OpenReports): readonly FreeRoute[] {
  const { keys, settings } = ledger
  const { origin } = settings
  const findStatus = createFindPaymentStatus({ ledger: ledger.payments, signReceipt: keys.signReceipt, reports })
  const writeStatement: WriteStatement = async (question) => {
    const { position, headPosition, read } = await reports.statement(question)
    if (position >= headPosition) return read
    read.destroy()
    return undefined
  }
  return [
    paymentStatusRoute({ clock, log, origin, findStatus }),
    statementRoute({ clock, log, origin, writeStatement }),
  ]
}

/** An old payment wallet holds tokens until they are paid out or moved. */
async function totalBaseUnits(
  reader: Chain['reader'],
  wallets: ReturnType<LedgerSettingsPart['allTerms']>,
): Promise<bigint> {
  const balances = await Promise.all(wallets.map(({ paymentWallet: wallet }) => reader.readBalance({ wallet })))
  return balances.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
}
