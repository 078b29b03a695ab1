import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Coin } from './coin.ts'
import { cryptoObservation, type CryptoPrice, type CryptoProvider, type CryptoQuery } from './cryptoPrice.ts'
import { errorIn, readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'
import type { Observation, ProviderDeps } from '../../../sourcing/provider.ts'
import { ofUpstream, openUpstreamOf } from '../../../outbound/publicUpstream.ts'

// The free plan allows 20,000 requests a month, which is 27 an hour.
const pacePublic = { requests: 27, perSeconds: 3_600 }
const paceWithKey = { requests: 60, perSeconds: 60 }

const nullableNumber = z.number().nullish()
// A figure for checks and `details`, which may be absent. Ignore unreadable values.
const unsoldNumber = z.number().nullish().catch(undefined)
const ticker = z.object({
  id: z.string().regex(/^[a-z0-9._-]{1,200}$/),
  name: z.string().max(500),
  symbol: z.string(),
  last_updated: z.string().nullish(),
  rank: unsoldNumber,
  total_supply: unsoldNumber,
  max_supply: unsoldNumber,
  quotes: z.object({
    USD: z.object({
      price: nullableNumber,
      volume_24h: nullableNumber,
      market_cap: nullableNumber,
      percent_change_24h: nullableNumber,
    }),
  }),
})

/**
 * Creates a provider of prices. It covers only coins whose CoinPaprika id is in our list. A search by symbol could find
 * a different coin than CoinGecko, because many tokens share a symbol.
 */
export function createCoinPaprika(deps: ProviderDeps): CryptoProvider {
  const key = deps.upstreams.COINPAPRIKA?.apiKey
  const publicHost = key === undefined ? 'api.coinpaprika.com' : 'api-pro.coinpaprika.com'
  const upstream = openUpstreamOf(deps, 'COINPAPRIKA', {
    name: 'coinpaprika',
    publicBase: `https://${publicHost}/v1`,
    pace: key === undefined ? pacePublic : paceWithKey,
    timeoutMs: 2_500,
    headers: key === undefined ? {} : { authorization: key },
  })
  return {
    ...ofUpstream(upstream),
    isMetered: true,
    covers: ({ coin }) => coin?.coinpaprika !== undefined,
    async ask(query) {
      const { coin } = query
      const id = coin?.coinpaprika
      if (coin === undefined || id === undefined)
        throw new UpstreamFailure('not_covered', 'the id of this coin is not known')
      return upstream.ask({ path: `/tickers/${id}`, query: { quotes: 'USD' } }, (reply) => read(reply, query, coin))
    },
  }
}

function read(reply: Reply, query: CryptoQuery, coin: Coin): Observation<CryptoPrice> {
  refuseError(reply)
  const found = readJson(reply, ticker)
  const { id, name, symbol, last_updated: updatedAt, quotes } = found
  if (id !== coin.coinpaprika) throw new UpstreamFailure('bad_payload', 'another id was answered')
  // Refuse an id that CoinPaprika has reassigned to another coin, because that coin must not be sold under this symbol.
  if (symbol.toUpperCase() !== coin.symbol)
    throw new UpstreamFailure('not_covered', 'the id of our list stands for another symbol')
  const { price, volume_24h: volume, market_cap: marketCap, percent_change_24h: changePercent } = quotes.USD
  const supplyMax = found.max_supply || found.total_supply
  return cryptoObservation(query, {
    id,
    symbol,
    name,
    rank: found.rank,
    price,
    changePercent,
    volume,
    marketCap,
    supplyMax,
    updatedAt,
    others: [],
  })
}

const errorBody = z.object({ error: z.string() })

function refuseError(reply: Reply): void {
  const { status } = reply
  // CoinPaprika answers 402 for a used-up quota, and 403 for an invalid key.
  if (status === 402 || status === 403) throw new UpstreamFailure('auth', `key or quota: HTTP ${status}`)
  // CoinPaprika's "id not found" has a JSON body, unlike the 404 page of a wrong host. Report `not_covered`: the coin
  // exists, because our list contains it.
  if (status === 404 && errorIn(reply, errorBody) !== undefined)
    throw new UpstreamFailure('not_covered', 'the id of our list is gone')
  refuseStatus(reply, 'bad_payload')
}
