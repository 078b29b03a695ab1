import type { Chain } from '../../chain/openChain.ts'
import type { FinanceConfig, RefundConfig } from '../../config/financeConfig.ts'
import type { ServerConfig } from '../../config/serverConfig.ts'
import { explain } from '../../diagnosis/explain.ts'
import { createDecider } from '../../diagnosis/openDiagnosis.ts'
import { reconcile } from '../../diagnosis/reconcile.ts'
import { createFinanceAccess } from '../../financeApi/financeAccess.ts'
import { createFinanceRoutes } from '../../financeApi/financeRoutes.ts'
import { startMoneyMetrics } from '../../jobs/moneyMetricsJob.ts'
import { repeat } from '../../jobs/repeat.ts'
import { paymentStatusRoute } from '../../routes/paymentStatusRoute.ts'
import { statementRoute, type WriteStatement } from '../../routes/statementRoute.ts'
import { openDatabase } from '../../store/database.ts'
import type { FreeRoute } from '../../transport/freeRoute.ts'
import { closePart } from '../closePart.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { OpenReports } from '../ledger/openReports.ts'
import type { PartDeps } from '../partDeps.ts'
import { createFindPaymentStatus } from './openPaymentStatus.ts'

export interface FinancePartConfig {
  /**
   * Access rules of the finance reports. Undefined: reports are not served over HTTP, and are rolled up only where
   * dollars are sold.
   */
  readonly finance: FinanceConfig | undefined
  readonly refunds: RefundConfig
  readonly reportsDatabaseUrl?: string | undefined
  readonly server: Pick<ServerConfig, 'publicUrl'>
}

export interface FinanceDeps extends PartDeps {
  readonly ledger: Pick<LedgerPart, 'openReports' | 'payments' | 'settings' | 'keys'>
  readonly chain: Pick<Chain, 'reader' | 'finality' | 'terms' | 'dollars'>
}

// Milliseconds between two rollups. A read of a report rolls up at most one step, and this interval keeps the backlog
// within one step.
const rollUpEveryMs = 1_000
// Maximum number of connections for decisions. Two are enough, because a person decides one payment at a time.
const decisionConnectionsMax = 2

export function openFinance(config: FinancePartConfig, deps: FinanceDeps) {
  const { finance: access, refunds, reportsDatabaseUrl: readDatabaseUrl, server } = config
  const { clock, log, ledger, chain } = deps
  const { allTerms } = ledger.settings
  const { mint, decimals, network } = chain.terms
  const token = { mint, decimals }
  const opened = new AsyncDisposableStack()
  const close = () => opened.disposeAsync()
  // Connections of the reports are opened at their first use.
  const reports = opened.adopt(ledger.openReports({ token, readDatabaseUrl }), closePart)
  const payerRoutes = createPayerRoutes(deps, reports)
  // Roll up the reports if they are served, or if dollars are sold: the public statistics then read the promised burns
  // from them.
  if (access !== undefined || chain.dollars.length > 0)
    opened.defer(repeat(deps, { name: 'report roll-up', everyMs: rollUpEveryMs, run: reports.rollUp }).stop)
  if (access === undefined) return { serving: undefined, routes: payerRoutes, close }

  const { databaseUrl, limits } = refunds
  const applicationName = 'tollbook refunds'
  // Use a separate login, because the service's login must not record decisions.
  const decisions =
    databaseUrl === undefined
      ? undefined
      : opened.adopt(
          openDatabase({ databaseUrl, applicationName, connectionsMax: decisionConnectionsMax, log }),
          (database) => database.destroy(),
        )
  const walletBaseUnits = (of: string) => totalBaseUnits(deps, of)
  const { facts } = reports
  // List only the mints that are accepted now. The ledger keeps the figures of a dollar that was removed from
  // CURRENCIES, but the service does not read its account.
  const mints = async () => {
    const accepted = new Set<string>(allTerms().map((terms) => terms.mint))
    return (await reports.mints()).map((each) => each.mint).filter((each) => accepted.has(each))
  }
  const readFigures = async (of: string) => (await reports.inMint(of)).money()
  opened.defer(
    startMoneyMetrics({ clock, log, mints, readFigures, walletBaseUnits, onMoney: deps.metrics.onMoney }).stop,
  )
  const routes = createFinanceRoutes({
    clock,
    log,
    access: createFinanceAccess(access, { clock, log }),
    reports,
    network,
    decideRefund: decisions && createDecider(decisions, { clock, chain: chain.reader, allTerms, limits, token }),
    signClosing: ledger.keys.signClosing,
    // Use an empty base URL on the shared listener, because a path without a host is enough there.
    publicUrl: access.listener === undefined ? '' : server.publicUrl,
    explain: (text) => explain({ clock, facts, chain: chain.reader, allTerms, decimals }, text),
    reconcile: (of) => reconcile({ clock, facts, chain, allTerms }, of),
    walletBaseUnits,
  })
  return { serving: { routes, listener: access.listener }, routes: payerRoutes, close }
}

function createPayerRoutes({ clock, log, ledger }: FinanceDeps, reports: OpenReports): readonly FreeRoute[] {
  const { keys, settings } = ledger
  const { origin } = settings
  const findStatus = createFindPaymentStatus({ ledger: ledger.payments, signReceipt: keys.signReceipt, reports })
  const writeStatement: WriteStatement = async (question) => {
    const { position, headPosition, read } = await reports.statement(question)
    // Refuse an incomplete statement: a public request rolls up at most one step.
    if (position >= headPosition) return read
    read.destroy()
    return undefined
  }
  return [
    paymentStatusRoute({ clock, log, origin, findStatus }),
    statementRoute({ clock, log, origin, writeStatement }),
  ]
}

/**
 * Returns the balance of the payment wallets of a mint. Counts former wallets too, because they hold tokens until the
 * tokens are paid out or moved.
 */
async function totalBaseUnits({ chain, ledger }: FinanceDeps, of: string): Promise<bigint> {
  const terms = ledger.settings.allTerms().filter(({ mint }) => mint === of)
  const balances = await Promise.all(
    terms.map(({ paymentWallet: wallet, mint }) => chain.reader.readBalance({ wallet, mint, isFresh: true })),
  )
  return balances.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
}
