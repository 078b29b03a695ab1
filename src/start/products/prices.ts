import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { Address } from '@tollbook/core/address'
import { displayNumber } from '@tollbook/core/money'
import type { ListedPrice } from '@tollbook/core/quote'
import type { ServiceCheck } from '../../jobs/healthJobs.ts'
import type { MarketsHeard, PriceJobDeps } from '../../jobs/priceJob.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from '../../pricing/tokenPrice.ts'
import type { PriceListStore } from '../../store/priceListStore.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Upstreams } from '../upstreams/openUpstreams.ts'

/** Prices of the endpoints in tokens, by the operator's token price or the markets' price. */
export interface Prices {
  readonly checks: readonly ServiceCheck[]
  /** Returns the price in the service token, or in the dollar with this mint. */
  currentPrice(endpoint: string, mint?: Address): ListedPrice | undefined
  tokenPriceAttoUsd(): TokenPriceAttoUsd | undefined
  /** Answer of `/api/token/price`. */
  tokenPrice(): Json | undefined
  /** Absent if the price is the operator's. */
  heard?(): MarketsHeard
  close(): Promise<void>
}

/** Ports that convert a token price of any source into price lists. */
export interface PricingDeps extends Pick<PartDeps, 'clock' | 'log'>, Pick<PriceJobDeps, 'pricesAt' | 'listed'> {
  readonly upstreams: Pick<Upstreams, 'access'>
  readonly terms: PaymentTerms
  readonly priceLists: PriceJobDeps['priceLists'] & Pick<PriceListStore, 'publish'>
  /** The prices of other products, which these replace. */
  readonly earlier?: Prices | undefined
}

interface SourcedPrice {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly source: string
  readonly asOfMs: number
}

/** Formats a token price for `/api/token/price`. */
export function shownPrice(price: SourcedPrice, { mint, decimals }: PaymentTerms) {
  const priceUSD = displayNumber(price.tokenPriceAttoUsd, tokenPriceDecimals)
  return { priceUSD, source: price.source, asOf: isoTime(price.asOfMs), mint, decimals }
}
