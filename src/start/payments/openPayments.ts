import { describeError } from '@tollbook/core/fault'
import type { Chain } from '../../chain/openChain.ts'
import type { WalletPort } from '../../http/payRoutes.ts'
import type { Paywall } from '../../paywall/paywall.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import type { Health } from '../jobs/health.ts'
import type { Jobs } from '../jobs/startJobs.ts'
import { openRails, type RailsDeps, type RailSettings } from './openRails.ts'
import { openWalletPayments } from './openWalletPayments.ts'

/** Takes payments: of programs at the paywall, and of wallets that only sign. */
export interface Payments {
  readonly paywall: Paywall
  readonly wallets: WalletPort
}

export interface PaymentsDeps extends Omit<RailsDeps, 'slot'> {
  readonly chain: Pick<Chain, 'reader' | 'finality' | 'terms' | 'latestBlockhash'>
  readonly jobs: Pick<Jobs, 'slot' | 'whyExposed'>
  readonly health: Pick<Health, 'whyClosed' | 'whyNoQuotes'>
  /** Gives a wallet tokens of a local chain. Absent outside local mode. */
  readonly fundWallet: WalletPort['fund']
  /** For tests: adds rails. */
  readonly withRails: ((rails: readonly PaymentRail[]) => readonly PaymentRail[]) | undefined
}

export function openPayments(settings: RailSettings, deps: PaymentsDeps): Payments {
  const { clock, log, chain, ledger, split, jobs, health, fundWallet } = deps
  const { slot } = jobs
  const rails = openRails(settings, { ...deps, slot })
  const { sale } = settings
  const paywall: Paywall = {
    clock,
    log,
    ledger: ledger.payments,
    rails: deps.withRails?.(rails) ?? rails,
    currentPrice: deps.products.currentPrice,
    whyClosed: health.whyClosed,
    whyNoQuotes: health.whyNoQuotes,
    whyExposed: jobs.whyExposed,
    signReceipt: ledger.keys.signReceipt,
    onFault: (fault, requestId) => log.warn({ event: 'outcome_unknown', requestId, error: describeError(fault) }),
    quoteTtlMs: sale.quoteTtlMs,
    leaseMs: sale.claimLeaseMs,
    attemptsMax: sale.attemptsMax,
    handlerTimeoutMs: sale.handlerTimeoutMs,
  }
  const wallets = openWalletPayments({ clock, ledger: ledger.payments, chain, paywall, slot, split, fundWallet })
  return { paywall, wallets }
}
