import type { Chain } from '../../chain/openChain.ts'
import type { SaleSettings } from '../../config/saleSettings.ts'
import type { Presentations } from '../../payment/presentations.ts'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import type { Settlement } from '../../payment/settlement.ts'
import type { Paywall } from '../../paywall/paywall.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import type { SplitShare } from '../../pricing/splitSetting.ts'
import { createNativeRail } from '../../rails/native/nativeRail.ts'
import { describeError } from '@tollbook/core/fault'
import type { Health } from '../jobs/health.ts'
import type { Lifecycle } from '../jobs/openLifecycle.ts'
import type { Prices } from '../products/prices.ts'
import type { ReceiptKeys } from '../ledger/openReceiptKeys.ts'
import type { LedgerSettingsPart } from '../ledger/openSettings.ts'
import { openSponsoredRails, type SponsoredParts } from './openSponsoredRails.ts'
import type { PartDeps } from '../partDeps.ts'

export interface SaleDeps extends PartDeps {
  readonly sponsored: SponsoredParts
  readonly ledger: PaymentLedger
  readonly presentations: Presentations
  readonly chain: Pick<Chain, 'reader' | 'terms'>
  readonly keys: Pick<ReceiptKeys, 'signReceipt' | 'signStatement' | 'authenticate'>
  readonly settings: Pick<LedgerSettingsPart, 'acceptedTerms'>
  readonly prices: Pick<Prices, 'currentPrice'>
  readonly lifecycle: Pick<Lifecycle, 'whyExposed'>
  readonly health: Pick<Health, 'whyClosed' | 'whyNoQuotes'>
  /** A slot that the chain has certainly reached. */
  readonly slot: () => number
  readonly split: readonly SplitShare[]
  /** For tests: adds rails. */
  readonly withRails: ((rails: readonly PaymentRail[]) => readonly PaymentRail[]) | undefined
}

// A slot takes 0.4 s and a confirmation a few slots.
const broadcastWaitMs = 10_000

/** The paywall with its rails. */
export function openSale(settings: SaleSettings, deps: SaleDeps): Paywall {
  const { clock, log, ledger, chain, keys, lifecycle, health } = deps
  const { terms } = chain
  const { currentPrice } = deps.prices
  const { quoteGraceMs, proofMaxAgeMs, proofLookupWaitMs: lookupWaitMs } = settings
  const settling = {
    clock,
    ledger,
    onUnrecorded: (error: unknown, { reference }: Pick<Settlement, 'reference'>) =>
      log.warn({ event: 'presentation_not_recorded', reference, error: describeError(error) }),
    presentations: deps.presentations,
    chain: chain.reader,
    terms,
    acceptedTerms: deps.settings.acceptedTerms,
    currentPrice,
    quoteGraceMs,
    proofMaxAgeMs,
    lookupWaitMs,
    broadcastWaitMs,
    quorumAboveMicroUsd: settings.quorumAboveMicroUsd,
  }
  const nativeRail = createNativeRail({ ...settling, split: deps.split, slot: deps.slot })
  // The native rail answers every request that no other rail claims, so it stands last.
  const sponsored = openSponsoredRails({
    ...deps.sponsored,
    ...settling,
    onBudget: deps.metrics.onSignerBudget,
    authenticate: keys.authenticate,
    signStatement: (statement) => keys.signStatement(deps.sponsored.serviceUrl(), statement),
    quoteTtlMs: settings.quoteTtlMs,
  })
  const rails = [...sponsored, nativeRail]
  return {
    clock,
    log,
    ledger,
    currentPrice,
    quoteTtlMs: settings.quoteTtlMs,
    leaseMs: settings.claimLeaseMs,
    attemptsMax: settings.attemptsMax,
    handlerTimeoutMs: settings.handlerTimeoutMs,
    whyExposed: lifecycle.whyExposed,
    whyClosed: health.whyClosed,
    whyNoQuotes: health.whyNoQuotes,
    rails: deps.withRails?.(rails) ?? rails,
    signReceipt: keys.signReceipt,
    onFault: (fault, requestId) => log.warn({ event: 'outcome_unknown', requestId, error: describeError(fault) }),
  }
}
