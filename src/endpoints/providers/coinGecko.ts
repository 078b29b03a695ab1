import { z } from 'zod'
import type { Reply } from '../../outbound/upstream.ts'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import { baseUrlOf } from '../../outbound/upstreamName.ts'
import { byRank, cryptoObservation, type CryptoProvider, type CryptoQuery, isRanked } from './cryptoPrice.ts'
import { errorIn, type Observation, paceOf, type ProviderDeps, readJson, refuseStatus } from './provider.ts'
import type { CryptoPrice } from './cryptoPrice.ts'

// Limit without a key: 5 a minute and address. With a free key: 30 by the older documents, 100 by the newer ones.
const pacePublic = { requests: 5, perSeconds: 60 }
const paceWithKey = { requests: 30, perSeconds: 60 }
const proHost = 'pro-api.coingecko.com'
// The likeliest coins of one symbol; 900 bytes each.
const candidatesMax = 50

const nullableNumber = z.number().nullish()
// A figure that only checks others is ignored where it cannot be read.
const unsoldNumber = z.number().nullish().catch(undefined)
const market = z.object({
  id: z.string().min(1).max(200),
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

export function createCoinGecko(deps: ProviderDeps): CryptoProvider {
  const setting = deps.upstreams.COINGECKO
  const base = baseUrlOf(setting, 'https://api.coingecko.com/api/v3')
  const key = setting?.apiKey
  const upstream = deps.openUpstream({
    name: 'coingecko',
    base,
    pace: paceOf(setting, key === undefined ? pacePublic : paceWithKey),
    timeoutMs: 3_500,
    headers: key === undefined ? {} : { [base.hostname === proHost ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key']: key },
  })
  return {
    name: 'coingecko',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    ask: (query) =>
      upstream.ask(
        {
          path: '/coins/markets',
          query: {
            vs_currency: 'usd',
            // Requests all coins of the symbol. We choose among them and report the alternatives.
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
  refuseError(reply)
  const meant = query.id ?? query.coin?.coingecko
  const items = readJson(reply, markets)
  const readable = items.flatMap((item) => market.safeParse(item).data ?? [])
  const candidates = readable
    .filter(({ symbol }) => query.id !== undefined || symbol.toLowerCase() === symbolOf(query))
    .toSorted((a, b) => byRank(rankedOf(a), rankedOf(b)))
  const chosen = candidates.find(({ id, market_cap_rank: rank }) =>
    meant === undefined ? isRanked(rank) : id === meant,
  )
  // The coin that is meant, or one that ranks higher, may be among the items that cannot be read.
  if (readable.length < items.length && (meant === undefined || chosen === undefined))
    throw new UpstreamFailure('bad_payload', 'a coin that cannot be read')
  if (chosen === undefined) {
    // A listed coin exists. A provider that leaves it out has not answered, and the result must not be cached as missing.
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

const errorBody = z
  .object({ status: z.object({ error_code: z.number() }) })
  .transform(({ status }) => status.error_code)
const keyProblems = new Set([10_002, 10_005, 10_010, 10_011])

/** A rate limit is also reported in a body under 200. */
function refuseError(reply: Reply): void {
  const code = errorIn(reply, errorBody)
  if (code === 429) throw new UpstreamFailure('rate_limited', 'the limit is in the body')
  if (code !== undefined && keyProblems.has(code)) throw new UpstreamFailure('auth', `error ${code}`)
  if (code === 1_020) throw new UpstreamFailure('blocked', 'error 1020')
  refuseStatus(reply, 'bad_payload')
}

function rankedOf({ market_cap_rank: rank, total_volume: volume }: CoinMarket) {
  return { rank, volume }
}
