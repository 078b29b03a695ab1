import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import type { Upstream } from '../../../outbound/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { openCoinGecko, refuseCoinGeckoError } from './coinGeckoUpstream.ts'
import { cryptoObservation, type CryptoProvider, type CryptoQuery, isRanked } from './cryptoPrice.ts'
import type { Observation, ProviderDeps } from '../../../sourcing/provider.ts'
import { ofUpstream } from '../../../outbound/publicUpstream.ts'
import { readJson } from '../../../outbound/upstreamReply.ts'
import type { CryptoPrice } from './cryptoPrice.ts'

const candidatesMax = 50

const nullableNumber = z.number().nullish()
// A figure for checks and `details`, which may be absent. Ignore unreadable values.
const unsoldNumber = z.number().nullish().catch(undefined)
const market = z.object({
  id: z.string().regex(/^[^\s<>&"']{1,200}$/),
  symbol: z.string(),
  name: z.string().max(500),
  current_price: nullableNumber,
  market_cap: nullableNumber,
  market_cap_rank: nullableNumber,
  circulating_supply: unsoldNumber,
  total_volume: nullableNumber,
  price_change_percentage_24h: nullableNumber,
  price_change_24h: unsoldNumber,
  high_24h: unsoldNumber,
  low_24h: unsoldNumber,
  last_updated: z.string().nullish(),
})
const markets = z.array(z.unknown()).max(250)
type CoinMarket = z.infer<typeof market>

/** Creates a provider of prices in US dollars, by symbol or id. Several coins can share a symbol. */
export function createCoinGecko(deps: ProviderDeps, upstream: Upstream = openCoinGecko(deps)): CryptoProvider {
  return {
    ...ofUpstream(upstream),
    ask: (query) =>
      upstream.ask(
        {
          path: '/coins/markets',
          query: {
            vs_currency: 'usd',
            // Request every coin of the symbol, because we choose one and report the others as alternatives.
            ...(query.id === undefined ? { symbols: symbolOf(query), include_tokens: 'all' } : { ids: query.id }),
            per_page: String(candidatesMax),
          },
        },
        (reply) => read(reply, query),
      ),
  }
}

function symbolOf({ coin, symbol }: CryptoQuery): string {
  return (coin?.symbol ?? symbol).toLowerCase()
}

function read(reply: Reply, query: CryptoQuery): Observation<CryptoPrice> {
  refuseCoinGeckoError(reply)
  const meant = query.id ?? query.coin?.coingecko
  const items = readJson(reply, markets)
  const readable = items.flatMap((item) => market.safeParse(item).data ?? [])
  const candidates = readable
    .filter(({ symbol }) => query.id !== undefined || symbol.toLowerCase() === symbolOf(query))
    .toSorted(byRank)
  const chosen = candidates.find(({ id, market_cap_rank: rank }) =>
    meant === undefined ? isRanked(rank) : id === meant,
  )
  // Refuse the answer if an unreadable item may be the requested coin, or a coin with a higher rank.
  if (readable.length < items.length && (meant === undefined || chosen === undefined))
    throw new UpstreamFailure('bad_payload', 'a coin that cannot be read')
  if (chosen === undefined) {
    // A listed coin exists, so an answer without this coin is incomplete. `not_found` would cache the coin as missing.
    const kind = query.coin === undefined ? 'not_found' : 'incomplete'
    throw new UpstreamFailure(kind, `none of ${candidates.length} coins is the one that is meant`)
  }
  return cryptoObservation(query, {
    id: chosen.id,
    symbol: chosen.symbol.toUpperCase(),
    name: chosen.name,
    rank: chosen.market_cap_rank,
    price: chosen.current_price,
    changePercent: chosen.price_change_percentage_24h,
    volume: chosen.total_volume,
    marketCap: chosen.market_cap,
    supply: chosen.circulating_supply,
    changeAmount: chosen.price_change_24h,
    high: chosen.high_24h,
    low: chosen.low_24h,
    updatedAt: chosen.last_updated,
    others: candidates.filter(({ id }) => id !== chosen.id).map(({ id }) => id),
  })
}

/** Sorts by rank of market capitalisation, then by volume. Unranked coins come last. */
function byRank(a: CoinMarket, b: CoinMarket): number {
  const rankOf = ({ market_cap_rank: rank }: CoinMarket) => (isRanked(rank) ? rank : Number.MAX_SAFE_INTEGER)
  return rankOf(a) - rankOf(b) || (b.total_volume ?? 0) - (a.total_volume ?? 0)
}
