import { z } from 'zod'
import { tokenSourceText, tokenSymbolText } from '@tollbook/core/wire'
import { parsePrices, parseProductsOff } from '../pricing/parsePrices.ts'
import { defaultTokenNames } from '../pricing/tokenNames.ts'
import { defaultSplit, parseSplit } from '../pricing/splitSetting.ts'
import { defaultSeller } from '../product/seller.ts'
import { filePath, httpUrl, parsedBy, variable } from './variables.ts'

const line = (lengthMax: number) =>
  z
    .string()
    .regex(new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${lengthMax}}$`, 'u'), `must be one line of 1 to ${lengthMax} characters`)
const contact = z
  .string()
  .refine(
    (text) => text.length <= 200 && (z.email().safeParse(text).success || /^https?:\/\/\S+$/.test(text)),
    'must be an e-mail address or an http(s) URL, of 200 characters at most',
  )

export const catalogConfig = z.object({
  /** Undefined: the built-in products are sold. */
  productsFile: variable('PRODUCTS_FILE', filePath),
  prices: variable('PRICES_USD', parsedBy(parsePrices, new Map())),
  productsOff: variable('PRODUCTS_OFF', parsedBy(parseProductsOff, new Set())),
  split: variable('SPLIT', parsedBy(parseSplit, defaultSplit)),
  /** Documents and pages show these texts. */
  seller: z.object({
    name: variable('SERVICE_NAME', line(60).default(defaultSeller.name)),
    description: variable('SERVICE_DESCRIPTION', line(200).default(defaultSeller.description)),
    contact: variable('SERVICE_CONTACT', contact.optional()),
    termsUrl: variable('SERVICE_TERMS_URL', httpUrl),
  }),
  token: z
    .object({
      symbol: variable('TOKEN_SYMBOL', tokenSymbolText.default(defaultTokenNames.symbol)),
      sourceUrl: variable('TOKEN_SOURCE_URL', tokenSourceText.optional()),
    })
    .transform(({ symbol, sourceUrl }) => ({ symbol, ...(sourceUrl === undefined ? {} : { sourceUrl }) })),
})

export type CatalogConfig = z.infer<typeof catalogConfig>
