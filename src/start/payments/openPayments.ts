import type { Address } from '@tollbook/core/address'
import { describeError } from '@tollbook/core/fault'
import type { Chain } from '../../chain/openChain.ts'
import { buildPaymentTransaction } from '../../chain/paymentTransaction.ts'
import { readPayerFunds } from '../../chain/readPayerFunds.ts'
import type { WalletPort } from '../../routes/payRoutes.ts'
import { shareReading } from '../../transport/shareReading.ts'
import type { Paywall } from '../../paywall/paywall.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import { createSales, type Sales } from '../../paywall/sales.ts'
import { Serving } from '../../paywall/serving.ts'
import { createWalletPayments } from '../../rails/native/walletPayment.ts'
import type { CurrencyConfig } from '../../config/currencyConfig.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { Health } from '../jobs/health.ts'
import type { Jobs } from '../jobs/startJobs.ts'
import type { TabEnds } from '../tabs/openTabs.ts'
import { openDollars } from './openDollars.ts'
import { openRails, type RailsDeps, type RailConfig } from './openRails.ts'

export type Payments = ReturnType<typeof openPayments>

export interface PaymentsDeps extends Omit<RailsDeps, 'slot' | 'dollars'> {
  readonly ledger: RailsDeps['ledger'] & Pick<LedgerPart, 'lifecycle'>
  readonly chain: Pick<Chain, 'dollars' | 'reader' | 'finality' | 'terms' | 'latestBlockhash' | 'readAccounts'>
  readonly jobs: Pick<Jobs, 'slot' | 'whyNoQuotes' | 'whyExposed' | 'whyDollarOff' | 'whyNoDeposit'>
  readonly tabEnds: Pick<TabEnds, 'whyNoDeposit'>
  readonly health: Pick<Health, 'whyClosed'>
  /** Sends tokens of a local chain to a wallet. Absent outside local mode. */
  readonly fundWallet: WalletPort['fund']
  /** Replaces the rails in tests. */
  readonly withRails?: ((rails: readonly PaymentRail[]) => readonly PaymentRail[]) | undefined
}

export interface PaymentsConfig extends RailConfig {
  readonly currencies: CurrencyConfig
}

export function openPayments(config: PaymentsConfig, deps: PaymentsDeps) {
  const { clock, log, ledger, jobs, health } = deps
  const { sale, currencies, catalog } = config
  const { terms, dollars: accepted } = deps.chain
  const { currentPrice } = deps.products
  const { lifecycle } = ledger
  const { whyDollarOff: whyOff } = jobs
  const whyNoDeposit = (mint: Address) => jobs.whyNoDeposit(mint) ?? deps.tabEnds.whyNoDeposit(mint)
  const ofDollars = { clock, dollars: accepted, token: terms, currentPrice, whyOff, whyNoDeposit, lifecycle }
  const dollars = openDollars(currencies, ofDollars)
  const rails = openRails(config, { ...deps, dollars, slot: jobs.slot })
  const paywall: Paywall = {
    clock,
    log,
    ledger: ledger.payments,
    rails: deps.withRails?.(rails) ?? rails,
    currentPrice,
    whyClosed: health.whyClosed,
    whyNoQuotes: jobs.whyNoQuotes,
    whyExposed: jobs.whyExposed,
    serving: new Serving(),
    signReceipt: ledger.keys.signReceipt,
    listNumber: ledger.priceLists.listNumber,
    onFault: (fault, requestId) => log.warn({ event: 'outcome_unknown', requestId, error: describeError(fault) }),
    quoteTtlMs: sale.quoteTtlMs,
    token: catalog.token,
    leaseMs: sale.claimLeaseMs,
    attemptsMax: sale.attemptsMax,
    handlerTimeoutMs: sale.handlerTimeoutMs,
  }
  const sales = createSales(paywall)
  return { sales, wallets: openWallets(sales, catalog, deps) }
}

// Age up to which a blockhash is reused. It is valid for about 60 s, so all buyers within these milliseconds share one
// blockhash.
const blockhashAgeMaxMs = 3_000

function openWallets(sales: Sales, { split, token }: RailConfig['catalog'], deps: PaymentsDeps): WalletPort {
  const { clock, ledger, chain, jobs, fundWallet } = deps
  const read = async () => (await chain.latestBlockhash()).blockhash
  const wallets = createWalletPayments({
    sales,
    ledger: ledger.payments,
    chain: chain.reader,
    finality: chain.finality,
    terms: chain.terms,
    split,
    token,
    slot: jobs.slot,
    blockhash: shareReading({ clock, ageMaxMs: blockhashAgeMaxMs, read }),
    readFunds: (wallet) => readPayerFunds(chain, wallet),
    buildTransaction: buildPaymentTransaction,
  })
  return { ...wallets, ...(fundWallet === undefined ? {} : { fund: fundWallet }) }
}
