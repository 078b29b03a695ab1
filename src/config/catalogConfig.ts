import { z } from 'zod'
import { tokenSourceText, tokenSymbolText } from '@tollbook/core/wire'
import { parsePrices, parseProductsOff } from '../pricing/parsePrices.ts'
import { defaultTokenNames } from '../pricing/tokenNames.ts'
import { defaultSplit, parseSplit } from '../pricing/splitSetting.ts'
import { filePath, parsedBy, variable } from './variables.ts'

/** Products for sale with their prices in US dollars, the split of each payment, and the names of the token. */
export const catalogConfig = z.object({
  /** Products that the operator describes in a file. Undefined: the built-in products are sold. */
  productsFile: variable('PRODUCTS_FILE', filePath),
  prices: variable('PRICES_USD', parsedBy(parsePrices, new Map())),
  productsOff: variable('PRODUCTS_OFF', parsedBy(parseProductsOff, new Set())),
  /** The shares of each payment, of which `burn` is one. */
  split: variable('SPLIT', parsedBy(parseSplit, defaultSplit)),
  token: z
    .object({
      symbol: variable('TOKEN_SYMBOL', tokenSymbolText.default(defaultTokenNames.symbol)),
      sourceUrl: variable('TOKEN_SOURCE_URL', tokenSourceText.optional()),
    })
    .transform(({ symbol, sourceUrl }) => ({ symbol, ...(sourceUrl === undefined ? {} : { sourceUrl }) })),
})

export type CatalogConfig = z.infer<typeof catalogConfig>
