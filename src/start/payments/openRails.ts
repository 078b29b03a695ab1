import { describeError } from '@tollbook/core/fault'
import type { Chain } from '../../chain/openChain.ts'
import type { SaleSettings } from '../../config/saleSettings.ts'
import type { X402Settings } from '../../config/signerSettings.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { Settlement } from '../../payment/settlement.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import { createNativeRail, type NativeRailDeps } from '../../rails/native/nativeRail.ts'
import type { LedgerPart } from '../ledger/openLedger.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Products } from '../products/openProducts.ts'
import { openSponsoredRails } from './openSponsoredRails.ts'

export interface RailSettings {
  readonly sale: SaleSettings
  /** Undefined: nothing is offered by x402 or MPP. */
  readonly x402: X402Settings | undefined
}

export interface RailsDeps extends PartDeps, Pick<NativeRailDeps, 'slot' | 'split'> {
  readonly ledger: Pick<LedgerPart, 'payments' | 'presentations' | 'priceLists' | 'settings' | 'keys'>
  readonly chain: Pick<Chain, 'reader' | 'terms'>
  readonly products: Pick<Products, 'currentPrice'> & { readonly endpoints: readonly Endpoint[] }
  readonly serviceUrl: () => string
}

// A slot takes 0.4 s and a confirmation a few slots.
const broadcastWaitMs = 10_000

/** The rails in the order in which they are asked. */
export function openRails(settings: RailSettings, deps: RailsDeps): readonly PaymentRail[] {
  const { clock, log, metrics, ledger, chain, products, serviceUrl } = deps
  const { quoteTtlMs, quoteGraceMs, proofMaxAgeMs, proofLookupWaitMs, quorumAboveMicroUsd } = settings.sale
  const { keys } = ledger
  const settling = {
    clock,
    ledger: ledger.payments,
    presentations: ledger.presentations,
    onUnrecorded: (error: unknown, { reference }: Pick<Settlement, 'reference'>) =>
      log.warn({ event: 'presentation_not_recorded', reference, error: describeError(error) }),
    chain: chain.reader,
    terms: chain.terms,
    acceptedTerms: ledger.settings.acceptedTerms,
    currentPrice: products.currentPrice,
    quoteGraceMs,
    proofMaxAgeMs,
    lookupWaitMs: proofLookupWaitMs,
    broadcastWaitMs,
    quorumAboveMicroUsd,
  }
  const sponsored = openSponsoredRails(settings.x402, {
    ...settling,
    quoteTtlMs,
    priceLists: ledger.priceLists,
    endpoints: products.endpoints,
    serviceUrl,
    onBudget: metrics.onSignerBudget,
    authenticate: keys.authenticate,
    signStatement: (statement) => keys.signStatement(serviceUrl(), statement),
  })
  // The native rail answers every request that no other rail claims, so it stands last.
  return [...sponsored, createNativeRail({ ...settling, split: deps.split, slot: deps.slot })]
}
