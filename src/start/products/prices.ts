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

export interface Prices {
  readonly checks: readonly ServiceCheck[]
  /** Returns the price in the dollar token `mint`, or in the service token. Returns undefined while no price is known. */
  currentPrice(endpoint: string, mint?: Address): ListedPrice | undefined
  tokenPriceAttoUsd(): TokenPriceAttoUsd | undefined
  /** Returns the answer of `/api/token/price`. Undefined while the token has no price. */
  tokenPrice(): Json | undefined
  /** Returns the readings of the markets. Absent if the operator sets the price, because no market is then read. */
  heard?(): MarketsHeard
  close(): Promise<void>
}

export interface PricingDeps extends Pick<PartDeps, 'clock' | 'log'>, Pick<PriceJobDeps, 'pricesAt' | 'listed'> {
  readonly upstreams: Pick<Upstreams, 'access'>
  readonly terms: PaymentTerms
  readonly priceLists: PriceJobDeps['priceLists'] & Pick<PriceListStore, 'publish'>
  /** The prices of the earlier products, which the new prices replace. Absent at the start. */
  readonly earlier?: Prices | undefined
}

interface SourcedPrice {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly source: string
  readonly asOfMs: number
}

export function shownPrice(price: SourcedPrice, { mint, decimals }: PaymentTerms) {
  const priceUSD = displayNumber(price.tokenPriceAttoUsd, tokenPriceDecimals)
  return { priceUSD, source: price.source, asOf: isoTime(price.asOfMs), mint, decimals }
}
