import { describeError } from '@tollbook/core/fault'
import type { CatalogConfig } from '../../config/catalogConfig.ts'
import type { SaleConfig } from '../../config/saleConfig.ts'
import type { Address } from '@tollbook/core/address'
import type { Chain } from '../../chain/openChain.ts'
import { termsOfWallet } from '../../chain/walletTerms.ts'
import { completeTransaction, judgeSponsored, readPayerSigned } from '../../chain/sponsoredTransaction.ts'
import type { X402Config } from '../../config/signerConfig.ts'
import { nameEndpoints, orderSchemaPath } from '../../document/paidOperation.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import type { Presentation } from '../../payment/presentations.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import type { Dollars } from '../../rails/sponsored/dollars.ts'
import type { FeePayer } from '../../rails/sponsored/feePayer.ts'
import { createMppRail } from '../../rails/mpp/mppRail.ts'
import { createNativeRail, type NativeRailDeps } from '../../rails/native/nativeRail.ts'
import { createFirstPresentations } from '../../rails/solana/firstPresentation.ts'
import { createOfferTexts } from '../../rails/sponsored/offerText.ts'
import { createSponsoredPayments, type SponsoredDeps } from '../../rails/sponsored/sponsoredPayments.ts'
import type { ProductDescription } from '../../rails/x402/challenge.ts'
import { createX402Rail } from '../../rails/x402/x402Rail.ts'
import { priceIn } from '../../store/priceListStore.ts'
import { withDeposits } from '../../rails/tab/depositRail.ts'
import { createTabRail } from '../../rails/tab/tabRail.ts'
import { createSignatureVerifier } from '../../rails/tab/verifySignature.ts'
import { tabsPath } from '../../tabs/tabProduct.ts'
import type { WalletDeps } from '../../rails/solana/acceptedTerms.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { PartDeps } from '../partDeps.ts'
import type { SignerPart } from './openSignerPart.ts'
import type { Products } from '../products/openProducts.ts'

export interface RailConfig {
  readonly catalog: Pick<CatalogConfig, 'split' | 'token' | 'seller'>
  readonly sale: SaleConfig
  /** Undefined: x402 and MPP are not offered. */
  readonly x402: X402Config | undefined
}

export interface RailsDeps extends Pick<PartDeps, 'clock' | 'log'>, Pick<NativeRailDeps, 'slot'> {
  readonly ledger: Pick<LedgerPart, 'payments' | 'tabs' | 'presentations' | 'priceLists' | 'settings' | 'keys'>
  readonly chain: Pick<Chain, 'reader' | 'terms'>
  /** Undefined: only the token is accepted. */
  readonly dollars?: Dollars | undefined
  readonly products: Pick<Products, 'currentPrice' | 'endpoints'>
  readonly serviceUrl: () => string
  /** Without a client of the signer, x402 and MPP are not offered. */
  readonly signer: Pick<SignerPart, 'feePayer'>
}

/** Returns the rails in the order in which they are matched with a request. */
export function openRails(config: RailConfig, deps: RailsDeps): readonly PaymentRail[] {
  const { ledger, chain, clock, products } = deps
  const { acceptedTerms, acceptedDepositTerms, depositTerms, formerTerms, origin } = ledger.settings
  // The rails of deposits need the presentations of the other rails, which read each proof.
  const first = createFirstPresentations({ chain: chain.reader, ...presentationDeps(deps) })
  const goods = openChainRails(config, deps, { first, terms: chain.terms, acceptedTerms, formerTerms })
  const terms = depositTerms()
  if (terms === undefined) return goods
  const dollars = deps.dollars && ofDeposits(deps.dollars, depositTerms)
  const deposits = openChainRails(
    config,
    { ...deps, dollars },
    {
      first,
      terms,
      acceptedTerms: acceptedDepositTerms,
      formerTerms(mint) {
        const former = formerTerms(mint)
        return former && termsOfWallet(former, terms.paymentWallet)
      },
    },
  )
  const joined = goods.map((rail, index) => withDeposits(rail, deposits[index] ?? rail, tabsPath))
  const verify = createSignatureVerifier()
  const { listNumber } = ledger.priceLists
  const { currentPrice } = products
  const tab = createTabRail({ clock, tabs: ledger.tabs, origin, currentPrice, dollars, listNumber, verify })
  return [tab, ...joined]
}

function ofDeposits(dollars: Dollars, depositTerms: LedgerPart['settings']['depositTerms']): Dollars {
  return {
    ...dollars,
    termsOf: depositTerms,
    async offers(endpoint, rail) {
      const offers = await dollars.offers(endpoint, rail)
      return offers.flatMap(({ price }) => {
        const terms = depositTerms(price.mint)
        return terms === undefined ? [] : [{ price, terms }]
      })
    },
  }
}

function presentationDeps({ ledger, log }: RailsDeps) {
  return {
    presentations: ledger.presentations,
    onUnrecorded: (error: unknown, { reference }: Pick<Presentation, 'reference'>) =>
      log.warn({ event: 'presentation_not_recorded', reference, error: describeError(error) }),
  }
}

type ChainWallet = Required<WalletDeps & Pick<SponsoredDeps, 'formerTerms'>> & Pick<NativeRailDeps, 'first'>

function openChainRails(
  { sale, x402, catalog }: RailConfig,
  deps: RailsDeps,
  wallet: ChainWallet,
): readonly PaymentRail[] {
  const { clock, ledger, chain, products, slot } = deps
  const { feePayer } = deps.signer
  const { split, token } = catalog
  const settling = {
    clock,
    chain: chain.reader,
    ...wallet,
    ledger: ledger.payments,
    currentPrice: products.currentPrice,
  }
  const native = createNativeRail(sale, { ...settling, split, token, slot })
  // Put the native rail last, because it refuses a request without a wallet.
  if (x402 === undefined || feePayer === undefined) return [native]
  return [...openSponsoredRails({ sale, x402, catalog }, { ...deps, feePayer, settling }), native]
}

interface SponsoredRailsDeps extends RailsDeps {
  readonly feePayer: FeePayer
  readonly settling: Omit<NativeRailDeps, 'slot' | 'split' | 'token'> & ChainWallet
}

/** Opens the rails of standard clients. They need a fee payer, whose key is in a separate process, the signer. */
function openSponsoredRails(
  { sale, x402, catalog }: RailConfig & { readonly x402: X402Config },
  deps: SponsoredRailsDeps,
): readonly PaymentRail[] {
  const { settling, clock, feePayer, ledger, dollars, products, serviceUrl } = deps
  const { priceLists, keys } = ledger
  const { terms } = settling
  const findListed = async (endpoint: string, priceList: number, dollar?: Address) => {
    const list = await priceLists.listNumber(priceList)
    const price = list === undefined ? undefined : priceIn(list, endpoint, dollar)
    return price === undefined ? undefined : { ...price, priceList }
  }
  // Offers of x402 and MPP hold their price as long as a quote.
  const limits = { ...sale, priceHoldMs: sale.quoteTtlMs + sale.quoteGraceMs }
  const payments = createSponsoredPayments(limits, {
    ...settling,
    ...presentationDeps(deps),
    currentPrice: products.currentPrice,
    dollars,
    feePayer,
    findListed,
    completeTransaction,
    judgeSponsored,
  })
  const offering = {
    clock,
    terms,
    dollars,
    feePayer,
    serviceUrl,
    sellerName: catalog.seller.name,
    readPayerSigned,
    nowMs: () => clock.nowMs(),
    // Accept the terms of deposits too, because the offer that a payment repeats may be for a deposit. The settlement
    // then decides by the order.
    acceptedTerms: (landedAtMs: number, mint?: Address) => {
      const { acceptedTerms, acceptedDepositTerms } = ledger.settings
      return [...acceptedTerms(landedAtMs, mint), ...acceptedDepositTerms(landedAtMs, mint)]
    },
    describe: (path: string) => describeAll(products.endpoints()).get(path),
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

const descriptions = new WeakMap<readonly Endpoint[], ReadonlyMap<string, ProductDescription>>()

/** Describes the products once, because their list changes only when the products file is read again. */
function describeAll(endpoints: readonly Endpoint[]): ReadonlyMap<string, ProductDescription> {
  const known = descriptions.get(endpoints)
  if (known !== undefined) return known
  const described = new Map(
    nameEndpoints(endpoints).map((endpoint) => {
      const { path, summary, stream } = endpoint
      const mimeType = stream?.contentType ?? 'application/json'
      return [path, { summary, mimeType, inputSchemaPath: orderSchemaPath(endpoint) }]
    }),
  )
  descriptions.set(endpoints, described)
  return described
}
