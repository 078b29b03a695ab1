import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { coinOf } from './providers/coin.ts'
import { createCoinbase } from './providers/coinbase.ts'
import { createCoinGecko } from './providers/coinGecko.ts'
import { createCoinPaprika } from './providers/coinPaprika.ts'
import type { CryptoPrice, CryptoQuery } from './providers/cryptoPrice.ts'
import { createKraken } from './providers/kraken.ts'
import type { ProviderDeps } from './providers/provider.ts'
import { crossChecked } from './providers/referencePrice.ts'
import { createSource } from './source.ts'
import { text } from './text.ts'

const symbol = text({
  expected:
    'a symbol such as BTC: 1 to 20 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
  shown: { minLength: 1, maxLength: 20, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$' },
  test: (value) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/.test(value),
})

const freshMs = 60_000
const staleMs = 10 * 60_000
// CoinGecko is a minute or two behind and CoinPaprika up to ten; a price of half an hour ago is another price.
const ageMaxMs = 30 * 60_000
const hint = 'only coins that are ranked by market capitalisation are sold, by their ticker'

export function createCrypto(deps: ProviderDeps): Endpoint {
  const references = { clock: deps.clock, exchanges: [createCoinbase(deps), createKraken(deps)] }
  const source = createSource<CryptoQuery, CryptoPrice>(deps, {
    what: 'a cryptocurrency price',
    providers: [createCoinGecko(deps), createCoinPaprika(deps)].map((provider) => crossChecked(references, provider)),
    keyOf: ({ symbol, coin }) => coin?.symbol ?? symbol,
    freshMs,
    staleMs,
    ageMaxMs,
    hint,
  })
  const queryOf = (asked: string): CryptoQuery => {
    const symbol = asked.toUpperCase()
    return { symbol, coin: coinOf(symbol) }
  }
  return defineEndpoint({
    path: '/api/data/crypto',
    method: 'GET',
    summary: 'Price of a cryptocurrency',
    schema: z.strictObject({ symbol }),
    whyUnavailable: (asked) => source.whyUnavailable(asked && queryOf(asked.symbol)),
    whyNoData: (asked) =>
      source.isKnownMissing(queryOf(asked.symbol)) ? `minutes ago no source knew it; ${hint}` : undefined,
    async handle(asked) {
      const query = queryOf(asked.symbol)
      const found = await source.ask(query)
      if (found.kind !== 'found') return found
      // Whoever asks for XBT is answered for XBT, also with what was fetched for BTC.
      return { kind: 'delivered', data: { ...found.data, symbol: query.symbol }, meta: found.meta }
    },
  })
}
