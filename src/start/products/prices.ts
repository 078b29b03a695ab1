import type { ListedPrice } from '@tollbook/core/quote'
import type { ServiceCheck } from '../../jobs/healthJobs.ts'
import type { PriceJobDeps } from '../../jobs/priceJob.ts'
import type { PricedProduct } from '../../pricing/priceList.ts'
import type { SplitShare } from '../../pricing/splitSetting.ts'
import type { PriceListStore } from '../../store/priceListStore.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Providers } from './openProviders.ts'
import type { PartDeps } from '../partDeps.ts'

/** Prices of the endpoints in tokens, from the operator's token price or the markets'. */
export interface Prices {
  readonly checks: readonly ServiceCheck[]
  currentPrice(endpoint: string): ListedPrice | undefined
  /** For `/api/token/price`. */
  tokenPrice(): Json | undefined
  close(): Promise<void>
}

export interface PricesDeps extends Pick<PartDeps, 'clock' | 'log'> {
  readonly providers: Pick<Providers, 'data'>
  readonly terms: PaymentTerms
  /** Products for sale, with prices in US dollars. */
  readonly sold: readonly PricedProduct[]
  /** How each payment is divided. */
  readonly split: readonly SplitShare[]
  readonly priceLists: PriceJobDeps['priceLists'] & Pick<PriceListStore, 'publish'>
}
