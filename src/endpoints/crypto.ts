import { z } from 'zod'
import { createLastKnown } from './agreement/lastKnown.ts'
import { defineProduct, type ProductHandler } from './productDefinition.ts'
import type { DemoBuyer } from './productFacts.ts'
import { coinOf, coinOfId } from './providers/coin.ts'
import { createCoinbase } from './providers/coinbase.ts'
import { createCoinGecko } from './providers/coinGecko.ts'
import { createCoinPaprika } from './providers/coinPaprika.ts'
import { cryptoAgreement, type CryptoPrice, type CryptoQuery } from './providers/cryptoPrice.ts'
import { createKraken } from './providers/kraken.ts'
import type { ProviderDeps } from './providers/provider.ts'
import { percentText } from './signedText.ts'
import { createSource } from './source.ts'
import { type Answered, moreSymbols, splitSymbols, symbolHandler } from './symbolHandler.ts'
import { queryFlag, text } from './text.ts'

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
  test: (value) => idShape.test(value),
})
const parameters = z
  .strictObject({
    symbol: symbol.exactOptional(),
    coinId: coinId.exactOptional(),
    more: moreSymbols('symbols', symbolShape).exactOptional(),
    details: queryFlag().exactOptional().meta({ description: 'name, rank, range of 24 hours, supply' }),
  })
  .superRefine(({ symbol: bySymbol, coinId: byId }, { addIssue }) => {
    if (bySymbol === undefined && byId === undefined)
      addIssue({ code: 'custom', path: ['symbol'], message: 'is required: a symbol such as BTC, or coinId' })
    if (bySymbol !== undefined && byId !== undefined)
      addIssue({ code: 'custom', path: ['symbol'], message: 'must not be combined with coinId' })
  })
type CryptoOrder = z.infer<typeof parameters>

const priced = z.object({
  symbol: z.string().meta({ description: 'the requested symbol' }),
  price: z.number().meta({ description: 'US dollars' }),
  change24h: percentText,
  volume24h: z.number().meta({ description: 'US dollars traded in 24 hours' }),
  marketCap: z.number().meta({ description: 'US dollars' }),
  details: z
    .object({
      id: z.string(),
      name: z.string(),
      currency: z.string(),
      rank: z.number().optional().meta({ description: 'by market capitalisation' }),
      high24h: z.number().optional(),
      low24h: z.number().optional(),
      circulatingSupply: z.number().optional(),
    })
    .optional()
    .meta({ description: 'with details=true; a figure is absent where the provider does not report it' }),
})
const answer = priced.extend({
  more: z.array(priced).max(4).optional().meta({ description: 'the coins of more, in their order' }),
})

export const crypto = defineProduct({
  path: '/api/data/crypto',
  method: 'GET',
  summary: 'Price of a cryptocurrency',
  priceMicroUsd: 20_000n,
  parameters,
  answer,
  example: {
    order: { symbol: 'BTC' },
    answer: {
      symbol: 'BTC',
      price: 84_213.5,
      change24h: '+1.42%',
      volume24h: 31_250_000_000,
      marketCap: 1_672_000_000_000,
    },
  },
  providers: ['COINGECKO', 'COINPAPRIKA', 'COINBASE', 'KRAKEN'],
  demo: { order: () => ({ symbol: 'SOL' }), check: checkDemo },
  open: openCrypto,
})

const freshMs = 60_000
const staleMs = 10 * 60_000
// CoinGecko lags by a minute or two and CoinPaprika by up to ten; a price that is half an hour old is wrong.
const ageMaxMs = 30 * 60_000
const lastKnownMs = 2 * 60 * 60_000
const hint = 'only coins that are ranked by market capitalisation are sold, by their ticker'

function openCrypto(deps: ProviderDeps): ProductHandler<z.infer<typeof parameters>> {
  // No symbol has a colon.
  const keyOf = ({ symbol, coin, id }: CryptoQuery) => coin?.symbol ?? (id === undefined ? symbol : `id:${id}`)
  const source = createSource<CryptoQuery, CryptoPrice>(deps, {
    what: 'a cryptocurrency price',
    providers: [createCoinGecko(deps), createCoinPaprika(deps)],
    keyOf,
    isListed: ({ coin }) => coin !== undefined,
    known: [queryOf('BTC')],
    freshMs,
    staleMs,
    ageMaxMs,
    agreement: {
      ...cryptoAgreement,
      keyOf,
      lastKnown: createLastKnown(deps.clock, lastKnownMs),
      witnesses: [createCoinbase(deps), createKraken(deps)],
    },
    hint,
  })
  return symbolHandler<CryptoOrder, CryptoQuery, CryptoPrice>({ source, queriesOf, dataOf, hint })
}

function queriesOf({ symbol: first, coinId: id, more }: CryptoOrder): readonly [CryptoQuery, ...CryptoQuery[]] {
  const others = splitSymbols(more).map(queryOf)
  return id === undefined ? [queryOf(first ?? ''), ...others] : [queryOfId(id), ...others]
}

function queryOf(requested: string): CryptoQuery {
  const ticker = requested.toUpperCase()
  return { symbol: ticker, coin: coinOf(ticker) }
}

/** A listed coin is the same question by id and by symbol. */
function queryOfId(id: string): CryptoQuery {
  const coin = coinOfId(id)
  return coin === undefined ? { symbol: id, coin, id } : { symbol: coin.symbol, coin }
}

/** The answer repeats the requested spelling: XBT for a caller who asked for XBT, though BTC was fetched. */
function dataOf({ details: isDetailed }: CryptoOrder, { query, found }: Answered<CryptoQuery, CryptoPrice>) {
  const { symbol: answered, ...figures } = found.data
  return {
    symbol: query.id === undefined ? query.symbol : answered,
    ...figures,
    ...(isDetailed === true ? { details: found.details } : {}),
  }
}

function checkDemo(
  { symbol: answered, price, change24h, volume24h, marketCap }: z.infer<typeof answer>,
  { expect }: DemoBuyer,
): string {
  expect(answered === 'SOL', `the answer is about SOL, not ${answered}`)
  expect(price > 0 && volume24h > 0, 'price and volume are positive')
  expect(marketCap > volume24h / 10 && marketCap > price, 'a market is worth more than one coin')
  const millions = Math.round(marketCap / 1e6).toLocaleString('en-US')
  return `${answered} at $${price}, ${change24h} in 24 hours; market cap $${millions} million`
}
