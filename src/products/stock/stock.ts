import { z } from 'zod'
import { createLastKnown } from '../../sourcing/agreement/lastKnown.ts'
import { nothingKnown, stockHistoryRule } from '../../sourcing/history/historyAgreement.ts'
import { type PriceHistory, shownHistory, type SoldPrice, withHistory } from '../../sourcing/history/priceHistory.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { openEodhd } from './providers/eodhd.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'
import { type StockHistoryQuery, stockRanges } from './providers/stockHistory.ts'
import { stockAgreement, type StockPrice, type StockQuery } from './providers/stockPrice.ts'
import { tickerOf } from './providers/ticker.ts'
import { openTwelveData } from './providers/twelveData.ts'
import { openYahoo } from './providers/yahoo.ts'
import { amountText, percentText } from '../../sourcing/signedText.ts'
import { isListedTicker } from './searchTickers.ts'
import { createSource } from '../../sourcing/source.ts'
import { type AnsweredQuery, moreSymbols, splitSymbols, symbolHandler } from '../../sourcing/symbolHandler.ts'
import { oneOf, queryFlag, text } from '../../product/text.ts'

const symbolShape = /^[A-Za-z0-9]{1,10}([.-][A-Za-z0-9]{1,6})?$/
const symbol = text({
  expected:
    'a ticker such as AAPL, BRK.B or 0700.HK: 1 to 10 letters or digits, then at most one suffix of 1 to 6 after a dot or dash',
  shown: { minLength: 1, maxLength: 17, pattern: symbolShape.source },
  test: (value) => symbolShape.test(value),
})
const parameters = z
  .strictObject({
    symbol,
    more: moreSymbols('tickers', symbolShape).exactOptional(),
    history: oneOf(stockRanges)
      .exactOptional()
      .meta({ description: 'open, high, low, close and volume of each day of this time, adjusted for splits' }),
    details: queryFlag()
      .exactOptional()
      .meta({ description: 'name, exchange, currency, market state, open, high, low, previous close' }),
  })
  .superRefine(({ more, history }, { addIssue }) => {
    if (more !== undefined && history !== undefined)
      addIssue({ code: 'custom', path: ['history'], message: 'must not be combined with more' })
  })
type StockOrder = z.infer<typeof parameters>

const priced = z.object({
  symbol: z.string().meta({ description: 'the ticker' }),
  price: z.number().meta({ description: 'in the currency of meta.currency' }),
  change: amountText,
  changePercent: percentText,
  volume: z.number(),
  details: z
    .object({
      currency: z.string(),
      previousClose: z.number(),
      open: z.number().optional(),
      high: z.number().optional(),
      low: z.number().optional(),
      name: z.string().optional(),
      exchange: z.string().optional(),
      marketState: z.enum(['PRE', 'REGULAR', 'POST', 'CLOSED']).optional(),
      delayedByMinutes: z.number().optional(),
    })
    .optional()
    .meta({ description: 'with details=true; a field is absent where the provider does not report it' }),
})
const answer = priced.extend({
  more: z.array(priced).max(4).optional().meta({ description: 'the shares of more, in their order' }),
  history: shownHistory.optional().meta({ description: 'with history' }),
})

export const stock = defineProduct({
  path: '/api/data/stock',
  method: 'GET',
  summary: 'Price of a stock',
  priceMicroUsd: 20_000n,
  parameters,
  answer,
  example: {
    order: { symbol: 'AAPL' },
    answer: { symbol: 'AAPL', price: 271.36, change: '+1.25', changePercent: '+0.5%', volume: 41_238_900 },
  },
  providers: ['TWELVE_DATA', 'EODHD', 'YAHOO'],
  demo: { order: () => ({ symbol: 'AAPL' }), check: checkDemo },
  open: openStock,
})

const freshMs = 60_000
const staleMs = 15 * 60_000
// Maximum age of a price. At Easter, the last trade on Tuesday morning may be from Thursday evening, 4.7 days before.
const ageMaxMs = 5 * 24 * 60 * 60_000
const lastKnownMs = 24 * 60 * 60_000
const hint = 'a class of shares is asked for as BRK.B, a listing outside of the United States as 0700.HK'

function openStock(deps: ProviderDeps): ProductHandler<z.infer<typeof parameters>> {
  const keyOf = ({ ticker }: StockQuery) => ticker.canonical
  // Providers in order of preference.
  const sources = [openTwelveData(deps), openEodhd(deps), openYahoo(deps)].filter((one) => one !== undefined)
  const source = createSource<StockQuery, StockPrice>(deps, {
    what: 'a stock price',
    providers: sources.map(({ prices }) => prices),
    keyOf,
    isListed: ({ ticker }) => isListedTicker(ticker.canonical),
    known: [queryOf('AAPL')],
    freshMs,
    staleMs,
    ageMaxMs,
    agreement: { ...stockAgreement, keyOf, lastKnown: createLastKnown(deps.clock, lastKnownMs) },
    hint,
  })
  const history = createSource<StockHistoryQuery, PriceHistory>(deps, {
    what: 'the history of a stock price',
    providers: sources.map(({ histories }) => histories),
    keyOf: historyKeyOf,
    isListed: ({ ticker }) => isListedTicker(ticker.canonical),
    known: [historyOf('5d', 'AAPL', undefined)],
    freshMs,
    staleMs: 0,
    ageMaxMs,
    agreement: { ...stockHistoryRule, keyOf: historyKeyOf, lastKnown: nothingKnown },
  })
  const handler = symbolHandler<StockOrder, StockQuery, StockPrice>({ source, queriesOf, dataOf, hint })
  return withHistory(handler, {
    source: history,
    queryOf: ({ symbol: requested, history: range }, sold) =>
      range === undefined ? undefined : historyOf(range, requested, sold),
  })
}

function historyKeyOf({ ticker, range }: StockHistoryQuery): string {
  return `${ticker.canonical} ${range}`
}

function historyOf(range: StockHistoryQuery['range'], requested: string, sold: SoldPrice | undefined) {
  const currency = sold?.meta['currency']
  return {
    ...queryOf(requested),
    range,
    price: sold?.price,
    currency: typeof currency === 'string' ? currency : undefined,
  }
}

function queriesOf({ symbol: first, more }: StockOrder): readonly [StockQuery, ...StockQuery[]] {
  return [queryOf(first), ...splitSymbols(more).map(queryOf)]
}

/** Returns the sold data. Keeps the requested symbol, in capitals, such as BRK-B. */
function dataOf({ details: isDetailed }: StockOrder, { query, found }: AnsweredQuery<StockQuery, StockPrice>) {
  return { ...found.data, symbol: query.symbol, ...(isDetailed === true ? { details: found.details } : {}) }
}

function queryOf(requested: string): StockQuery {
  return { symbol: requested.toUpperCase(), ticker: tickerOf(requested) }
}

function checkDemo(
  { symbol: answered, price, change, changePercent, volume }: z.infer<typeof answer>,
  { expect }: DemoCaller,
): string {
  expect(answered === 'AAPL', `the answer is about AAPL, not ${answered}`)
  expect(price > 0 && Number.isInteger(volume) && volume >= 0, 'price and volume are figures that can be true')
  const percent = (Number(change) / (price - Number(change))) * 100
  expect(Math.abs(percent - Number.parseFloat(changePercent)) < 0.11, `${change} are ${changePercent}`)
  return `${answered} at $${price}, ${change} (${changePercent}), volume ${volume.toLocaleString('en-US')}`
}
