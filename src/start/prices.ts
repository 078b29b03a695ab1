import type { PriceWatchDeps } from '../jobs/priceWatch.ts'
import type { Check } from '../jobs/watches.ts'
import type { PriceListPublished } from '../payment/events.ts'
import type { Price } from '@tollbook/core/quote'
import type { PricedProduct } from '../pricing/priceList.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Providers } from './openProviders.ts'
import type { PartDeps } from './partDeps.ts'

/** Prices of the endpoints in tokens, from the operator's token price or the markets'. */
export interface Prices {
  readonly checks: readonly Check[]
  currentPrice(endpoint: string): Price | undefined
  /** For `/api/token/price`. */
  tokenPrice(): Json | undefined
  close(): Promise<void>
}

export interface PricesDeps extends Pick<PartDeps, 'clock' | 'log'> {
  readonly providers: Pick<Providers, 'data'>
  readonly terms: PaymentTerms
  /** What is sold, with prices in US dollars. */
  readonly sold: readonly PricedProduct[]
  readonly ledger: PriceWatchDeps['ledger'] & { publishPrices(list: PriceListPublished): Promise<void> }
}
