import type { z } from 'zod'
import { tokenSourceText, tokenSymbolText } from '@tollbook/core/wire'
import type { PriceListSettings } from '../pricing/priceList.ts'
import { parsePrices, parseProductsOff } from '../pricing/parsePrices.ts'
import { defaultTokenNames, type TokenNames } from '../pricing/tokenNames.ts'
import { defaultSplit, parseSplit, type SplitShare } from '../pricing/splitSetting.ts'
import { parsedBy } from './variables.ts'

/** Products for sale with their prices in US dollars, the split of each payment, and the names of the token. */
export interface CatalogSettings extends PriceListSettings {
  /** The shares of each payment; `burn` is one of them. */
  readonly split: readonly SplitShare[]
  readonly token: TokenNames
}

export const catalogVariables = {
  PRICES_USD: parsedBy(parsePrices, new Map()),
  PRODUCTS_OFF: parsedBy(parseProductsOff, new Set()),
  SPLIT: parsedBy(parseSplit, defaultSplit),
  TOKEN_SYMBOL: tokenSymbolText.default(defaultTokenNames.symbol),
  TOKEN_SOURCE_URL: tokenSourceText.optional(),
}

export function catalogSettingsOf(env: z.infer<z.ZodObject<typeof catalogVariables>>): CatalogSettings {
  const { PRICES_USD: prices, PRODUCTS_OFF: productsOff, SPLIT: split, TOKEN_SOURCE_URL: sourceUrl } = env
  const token = { symbol: env.TOKEN_SYMBOL, ...(sourceUrl === undefined ? {} : { sourceUrl }) }
  return { prices, productsOff, split, token }
}
