import { describeError } from '@tollbook/core/fault'
import type { SaleConfig } from '../../config/saleConfig.ts'
import type { Address } from '@tollbook/core/address'
import type { Chain } from '../../chain/openChain.ts'
import { completeTransaction, judgeSponsored, readPayerSigned } from '../../chain/sponsoredTransaction.ts'
import type { X402Config } from '../../config/signerConfig.ts'
import { orderSchemaPath } from '../../document/paidOperation.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import type { Presentation } from '../../payment/presentations.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import type { Dollars } from '../../rails/sponsored/dollars.ts'
import type { FeePayer } from '../../rails/sponsored/feePayer.ts'
import { createMppRail } from '../../rails/mpp/mppRail.ts'
import { createNativeRail, type NativeRailDeps } from '../../rails/native/nativeRail.ts'
import { createOfferTexts } from '../../rails/sponsored/offerText.ts'
import { createSponsoredPayments } from '../../rails/sponsored/sponsoredPayments.ts'
import type { ProductDescription } from '../../rails/x402/challenge.ts'
import { createX402Rail } from '../../rails/x402/x402Rail.ts'
import { priceIn } from '../../store/priceListStore.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Products } from '../products/openProducts.ts'

export interface RailConfig {
  readonly sale: SaleConfig
  /** Undefined: x402 and MPP are not offered. */
  readonly x402: X402Config | undefined
}

export interface RailsDeps extends PartDeps, Pick<NativeRailDeps, 'slot' | 'split' | 'token'> {
  readonly ledger: Pick<LedgerPart, 'payments' | 'presentations' | 'priceLists' | 'settings' | 'keys'>
  readonly chain: Pick<Chain, 'reader' | 'terms'>
  /** Dollars in addition to the token. Undefined: only the token is accepted. */
  readonly dollars?: Dollars | undefined
  readonly products: Pick<Products, 'currentPrice'> & { readonly endpoints: readonly Endpoint[] }
  readonly serviceUrl: () => string
  /** Name of the operator. */
  readonly sellerName: string
  /** Undefined: x402 and MPP are not offered. */
  readonly feePayer: FeePayer | undefined
}

/** Opens the rails, in the order in which requests are matched. */
export function openRails({ sale, x402 }: RailConfig, deps: RailsDeps): readonly PaymentRail[] {
  const { clock, log, ledger, chain, products, split, token, slot, feePayer } = deps
  const settling = {
    clock,
    chain: chain.reader,
    terms: chain.terms,
    acceptedTerms: ledger.settings.acceptedTerms,
    ledger: ledger.payments,
    presentations: ledger.presentations,
    currentPrice: products.currentPrice,
    onUnrecorded: (error: unknown, { reference }: Pick<Presentation, 'reference'>) =>
      log.warn({ event: 'presentation_not_recorded', reference, error: describeError(error) }),
  }
  const native = createNativeRail(sale, { ...settling, split, token, slot })
  // The native rail accepts every request that no other rail claims, so it must be last.
  if (x402 === undefined || feePayer === undefined) return [native]
  return [...openSponsoredRails({ sale, x402 }, { ...deps, feePayer, settling }), native]
}

interface SponsoredRailsDeps extends RailsDeps {
  readonly feePayer: FeePayer
  readonly settling: Omit<NativeRailDeps, 'slot' | 'split' | 'token'>
}

/** Opens x402 and MPP. Standard clients need a fee payer, which is a separate process: the signer. */
function openSponsoredRails(
  { sale, x402 }: RailConfig & { readonly x402: X402Config },
  { settling, clock, feePayer, ledger, chain, dollars, products, serviceUrl, sellerName }: SponsoredRailsDeps,
): readonly PaymentRail[] {
  const { priceLists, keys } = ledger
  const { terms } = chain
  const findListed = async (endpoint: string, priceList: number, dollar?: Address) => {
    const list = await priceLists.listNumber(priceList)
    const price = list === undefined ? undefined : priceIn(list, endpoint, dollar)
    return price === undefined ? undefined : { ...price, priceList }
  }
  const limits = { ...sale, priceHoldMs: sale.quoteTtlMs + sale.quoteGraceMs }
  const payments = createSponsoredPayments(limits, {
    ...settling,
    currentPrice: products.currentPrice,
    dollars,
    feePayer,
    findListed,
    completeTransaction,
    judgeSponsored,
  })
  const described = new Map(products.endpoints.map((endpoint) => [endpoint.path, describe(endpoint)]))
  const offering = {
    clock,
    terms,
    dollars,
    feePayer,
    serviceUrl,
    sellerName,
    readPayerSigned,
    nowMs: () => clock.nowMs(),
    acceptedTerms: ledger.settings.acceptedTerms,
    describe: (path: string) => described.get(path),
    authenticate: keys.authenticate,
    isAuthentic: keys.isAuthentic,
    signStatement: (statement: Parameters<typeof keys.signStatement>[1]) => keys.signStatement(serviceUrl(), statement),
  }
  const network = x402.network ?? terms.network
  return [
    createX402Rail(payments, { ...offering, network, offerTexts: createOfferTexts() }),
    createMppRail(payments, { ...offering, offerTexts: createOfferTexts() }),
  ]
}

function describe(endpoint: Endpoint): ProductDescription {
  const { summary, stream } = endpoint
  return {
    summary,
    mimeType: stream?.contentType ?? 'application/json',
    inputSchemaPath: orderSchemaPath(endpoint),
  }
}
