import type { z } from 'zod'
import type { PriceListSettings } from '../pricing/priceList.ts'
import { parsePrices, parseProductsOff } from '../pricing/parsePrices.ts'
import { defaultSplit, parseSplit, type SplitShare } from '../pricing/splitSetting.ts'
import { parsedBy } from './variables.ts'

/** Products for sale with their prices in US dollars, and the split of each payment. */
export interface CatalogSettings extends PriceListSettings {
  /** The shares of each payment; `burn` is one of them. */
  readonly split: readonly SplitShare[]
}

export const catalogVariables = {
  PRICES_USD: parsedBy(parsePrices, new Map()),
  PRODUCTS_OFF: parsedBy(parseProductsOff, new Set()),
  SPLIT: parsedBy(parseSplit, defaultSplit),
}

export function catalogSettingsOf(env: z.infer<z.ZodObject<typeof catalogVariables>>): CatalogSettings {
  return { prices: env.PRICES_USD, productsOff: env.PRODUCTS_OFF, split: env.SPLIT }
}
