import { z } from 'zod'
import { createLastKnown } from './agreement/lastKnown.ts'
import { defineProduct, type ProductHandler } from './productDefinition.ts'
import type { DemoBuyer } from './productFacts.ts'
import { coinOf } from './providers/coin.ts'
import { createCoinbase } from './providers/coinbase.ts'
import { createCoinGecko } from './providers/coinGecko.ts'
import { createCoinPaprika } from './providers/coinPaprika.ts'
import { cryptoAgreement, type CryptoPrice, type CryptoQuery } from './providers/cryptoPrice.ts'
import { createKraken } from './providers/kraken.ts'
import type { ProviderDeps } from './providers/provider.ts'
import { percentText } from './signedText.ts'
import { createSource } from './source.ts'
import { symbolHandler } from './symbolHandler.ts'
import { text } from './text.ts'

const symbol = text({
  expected:
    'a symbol such as BTC: 1 to 20 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
  shown: { minLength: 1, maxLength: 20, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$' },
  test: (value) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/.test(value),
})
const parameters = z.strictObject({ symbol })

const answer = z.object({
  symbol: z.string().meta({ description: 'the requested symbol' }),
  price: z.number().meta({ description: 'US dollars' }),
  change24h: percentText,
  volume24h: z.number().meta({ description: 'US dollars traded in 24 hours' }),
  marketCap: z.number().meta({ description: 'US dollars' }),
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
const lastKnownMs = 6 * 60 * 60_000
const hint = 'only coins that are ranked by market capitalisation are sold, by their ticker'

function openCrypto(deps: ProviderDeps): ProductHandler<z.infer<typeof parameters>> {
  const keyOf = ({ symbol, coin }: CryptoQuery) => coin?.symbol ?? symbol
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
  return symbolHandler({ source, queryOf, hint })
}

function queryOf(requested: string): CryptoQuery {
  const symbol = requested.toUpperCase()
  return { symbol, coin: coinOf(symbol) }
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
