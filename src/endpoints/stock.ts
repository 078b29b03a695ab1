import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { createNasdaq } from './providers/nasdaq.ts'
import type { ProviderDeps } from './providers/provider.ts'
import type { StockPrice, StockQuery } from './providers/stockPrice.ts'
import { createStooq } from './providers/stooq.ts'
import { tickerOf } from './providers/ticker.ts'
import { createTwelveData } from './providers/twelveData.ts'
import { createYahoo } from './providers/yahoo.ts'
import { createSource } from './source.ts'
import { text } from './text.ts'

const symbol = text({
  expected:
    'a ticker such as AAPL, BRK.B or 0700.HK: 1 to 10 letters or digits, then at most one suffix of 1 to 6 after a dot or dash',
  shown: { minLength: 1, maxLength: 17, pattern: '^[A-Za-z0-9]{1,10}([.-][A-Za-z0-9]{1,6})?$' },
  test: (value) => /^[A-Za-z0-9]{1,10}([.-][A-Za-z0-9]{1,6})?$/.test(value),
})

const freshMs = 60_000
const staleMs = 15 * 60_000
// The last trade may be before a long weekend: Thursday evening to Tuesday morning at Easter is four and a half days.
const ageMaxMs = 5 * 24 * 60 * 60_000
const hint = 'a class of shares is asked for as BRK.B, a listing outside of the United States as 0700.HK'

export function createStock(deps: ProviderDeps): Endpoint {
  const key = deps.upstreams.TWELVE_DATA?.apiKey
  const source = createSource<StockQuery, StockPrice>(deps, {
    what: 'a stock price',
    providers: [
      ...(key === undefined ? [] : [createTwelveData(deps, key)]),
      createYahoo(deps),
      createStooq(deps),
      createNasdaq(deps),
    ],
    keyOf: (query) => query.ticker.canonical,
    freshMs,
    staleMs,
    ageMaxMs,
    hint,
  })
  const queryOf = (asked: string): StockQuery => ({ symbol: asked.toUpperCase(), ticker: tickerOf(asked) })
  return defineEndpoint({
    path: '/api/data/stock',
    method: 'GET',
    summary: 'Price of a stock',
    schema: z.strictObject({ symbol }),
    whyUnavailable: (asked) => source.whyUnavailable(asked && queryOf(asked.symbol)),
    whyNoData: (asked) =>
      source.isKnownMissing(queryOf(asked.symbol)) ? `minutes ago no source knew it; ${hint}` : undefined,
    async handle(asked) {
      const query = queryOf(asked.symbol)
      const found = await source.ask(query)
      if (found.kind !== 'found') return found
      // Whoever asks for BRK-B is answered for BRK-B, also with what was fetched for BRK.B.
      return { kind: 'delivered', data: { ...found.data, symbol: query.symbol }, meta: found.meta }
    },
  })
}
