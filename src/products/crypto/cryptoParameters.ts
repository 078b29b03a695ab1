import { z } from 'zod'
import { shownHistory } from '../../sourcing/history/priceHistory.ts'
import { historyRanges } from './providers/cryptoHistory.ts'
import { otherCurrencies } from './providers/exchangeRate.ts'
import { percentText } from '../../sourcing/signedText.ts'
import { moreSymbols } from '../../sourcing/symbolHandler.ts'
import { oneOf, queryFlag, text } from '../../product/text.ts'

const symbolShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/
const symbol = text({
  expected:
    'a symbol such as BTC: 1 to 20 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
  shown: { minLength: 1, maxLength: 20, pattern: symbolShape.source },
  test: (value) => symbolShape.test(value),
})
const idShape = /^[a-z0-9][a-z0-9._-]{0,99}$/
const coinId = text({
  expected: 'an id of CoinGecko such as bitcoin, instead of a symbol: 1 to 100 lower-case letters, digits and . _ -',
  shown: { minLength: 1, maxLength: 100, pattern: idShape.source },
  test: isCoinGeckoId,
})

export function isCoinGeckoId(value: string): boolean {
  return idShape.test(value)
}

export const cryptoParameters = z
  .strictObject({
    symbol: symbol.exactOptional(),
    coinId: coinId.exactOptional(),
    more: moreSymbols('symbols', symbolShape).exactOptional(),
    currency: oneOf(['USD', ...otherCurrencies])
      .exactOptional()
      .meta({ default: 'USD', description: 'of all amounts' }),
    history: oneOf(historyRanges)
      .exactOptional()
      .meta({ description: 'open, high, low and close of this time, in USD' }),
    details: queryFlag().exactOptional().meta({ description: 'name, rank, range of 24 hours, supply' }),
  })
  .superRefine(({ symbol: bySymbol, coinId: byId, more, history, currency }, { addIssue }) => {
    const refuse = (field: string, message: string) => addIssue({ code: 'custom', path: [field], message })
    if (bySymbol === undefined && byId === undefined) refuse('symbol', 'is required: a symbol such as BTC, or coinId')
    if (bySymbol !== undefined && byId !== undefined) refuse('symbol', 'must not be combined with coinId')
    if (history === undefined) return
    if (more !== undefined) refuse('history', 'must not be combined with more')
    if (currency !== undefined && currency !== 'USD') refuse('history', 'is in USD only: leave currency out')
  })
export type CryptoOrder = z.infer<typeof cryptoParameters>

const amount = (what: string) => z.number().meta({ description: `${what}, in US dollars or in currency` })
export const priced = z.object({
  symbol: z.string().meta({ description: 'the requested symbol' }),
  price: amount('price of one coin'),
  change24h: percentText.meta({ description: 'change of the price in US dollars' }),
  volume24h: amount('traded in 24 hours'),
  marketCap: amount('price of all coins'),
  details: z
    .object({
      id: z.string(),
      name: z.string(),
      currency: z.string(),
      rank: z.number().exactOptional().meta({ description: 'by market capitalisation' }),
      high24h: z.number().exactOptional(),
      low24h: z.number().exactOptional(),
      circulatingSupply: z.number().exactOptional(),
    })
    .optional()
    .meta({ description: 'with details=true; a figure is absent where the provider does not report it' }),
})
export const cryptoAnswer = priced.extend({
  more: z.array(priced).max(4).optional().meta({ description: 'the coins of more, in their order' }),
  history: shownHistory.optional().meta({ description: 'with history' }),
})
export type CryptoData = z.infer<typeof cryptoAnswer>
