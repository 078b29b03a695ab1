import type { Price } from '@tollbook/core/quote'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { priceAll } from '../../pricing/currentPrice.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from '../../pricing/tokenPrice.ts'
import { isoTime } from '@tollbook/core/clock'
import { displayNumber } from '@tollbook/core/money'
import type { PricesDeps } from './prices.ts'

interface SourcedPrice {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly source: string
  readonly asOfMs: number
}

/** A token price as `/api/token/price` shows it. */
export function shownPrice(price: SourcedPrice, { mint, decimals }: PaymentTerms) {
  const priceUSD = displayNumber(price.tokenPriceAttoUsd, tokenPriceDecimals)
  return { priceUSD, source: price.source, asOf: isoTime(price.asOfMs), mint, decimals }
}

/** Undefined when a request would cost more tokens than can exist. */
export function pricesAt(
  tokenPriceAttoUsd: TokenPriceAttoUsd,
  { sold, split, terms: { mint, decimals } }: Pick<PricesDeps, 'sold' | 'split' | 'terms'>,
): readonly Price[] | undefined {
  return priceAll(sold, { tokenPriceAttoUsd, decimals, split })?.map((price): Price => ({ ...price, mint }))
}
