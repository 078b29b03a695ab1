import { z } from 'zod'
import type { Reply, Upstream } from '../../outbound/upstream.ts'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import { baseUrlOf } from '../../outbound/upstreamName.ts'
import {
  byRank,
  cryptoObservation,
  type CryptoPrice,
  type CryptoProvider,
  type CryptoQuery,
  isRanked,
} from './cryptoPrice.ts'
import { type Observation, paceOf, errorIn, type ProviderDeps, readJson, refuseStatus } from './provider.ts'

// 20,000 requests a month are free, which is 27 an hour. A coin outside our list takes two.
const pacePublic = { requests: 27, perSeconds: 3_600 }
const paceWithKey = { requests: 60, perSeconds: 60 }
const candidatesMax = 10

const identifier = z.string().regex(/^[a-z0-9._-]{1,200}$/)
const search = z.object({
  currencies: z
    .array(
      z.object({
        id: identifier,
        symbol: z.string(),
        rank: z.number().nullish(),
        is_active: z.boolean().nullish(),
      }),
    )
    .max(250),
})
const nullableNumber = z.number().nullish()
const ticker = z.object({
  id: identifier,
  name: z.string().max(500),
  symbol: z.string(),
  last_updated: z.string().nullish(),
  quotes: z.object({
    USD: z.object({
      price: nullableNumber,
      volume_24h: nullableNumber,
      market_cap: nullableNumber,
      percent_change_24h: nullableNumber,
    }),
  }),
})

/** The chosen coin, and the other coins of the symbol. */
interface Meant {
  readonly id: string
  readonly others: readonly string[]
}

export function createCoinPaprika(deps: ProviderDeps): CryptoProvider {
  const setting = deps.upstreams.COINPAPRIKA
  const key = setting?.apiKey
  const publicHost = key === undefined ? 'api.coinpaprika.com' : 'api-pro.coinpaprika.com'
  const upstream = deps.openUpstream({
    name: 'coinpaprika',
    base: baseUrlOf(setting, `https://${publicHost}/v1`),
    pace: paceOf(setting, key === undefined ? pacePublic : paceWithKey),
    timeoutMs: 2_500,
    headers: key === undefined ? {} : { authorization: key },
  })
  return {
    name: 'coinpaprika',
    licence: 'Free for hobby and non-commercial use; a paid plan before real sales',
    whyUnavailable: () => upstream.whyResting(),
    isMetered: true,
    ask: (query) => ask(upstream, query),
  }
}

async function ask(upstream: Upstream, query: CryptoQuery): Promise<Observation<CryptoPrice>> {
  const listed = query.coin?.coinpaprika
  if (listed === undefined) return askTicker(upstream, query, await findBySymbol(upstream, query))
  try {
    return await askTicker(upstream, query, { id: listed, others: [] })
  } catch (error) {
    // Our id is no longer valid; the symbol may still lead to the coin.
    if (!(error instanceof UpstreamFailure && error.kind === 'not_found')) throw error
    return askTicker(upstream, query, await findBySymbol(upstream, query))
  }
}

function findBySymbol(upstream: Upstream, query: CryptoQuery): Promise<Meant> {
  const q = query.coin?.symbol ?? query.symbol
  return upstream.ask(
    { path: '/search', query: { q, c: 'currencies', modifier: 'symbol_search', limit: String(candidatesMax) } },
    (reply) => {
      refuseError(reply)
      const [chosen, ...others] = readJson(reply, search)
        .currencies.filter(({ symbol, is_active: isActive }) => symbol.toUpperCase() === q && isActive !== false)
        .toSorted((a, b) => byRank({ rank: a.rank, volume: 0 }, { rank: b.rank, volume: 0 }))
      if (chosen === undefined || !isRanked(chosen.rank))
        throw new UpstreamFailure('not_found', 'no coin of this symbol is active and ranked')
      return { id: chosen.id, others: others.map(({ id }) => id) }
    },
  )
}

function askTicker(upstream: Upstream, query: CryptoQuery, meant: Meant): Promise<Observation<CryptoPrice>> {
  return upstream.ask({ path: `/tickers/${meant.id}`, query: { quotes: 'USD' } }, (reply) => {
    refuseError(reply)
    const found = readJson(reply, ticker)
    const { price, volume_24h: volume, market_cap: marketCap, percent_change_24h: changePercent } = found.quotes.USD
    // An id that was reassigned to another coin must not sell that coin under this name.
    if (found.symbol.toUpperCase() !== (query.coin?.symbol ?? query.symbol))
      throw new UpstreamFailure('not_found', 'the id stands for another symbol')
    const { id, name, last_updated: updatedAt } = found
    return cryptoObservation(query, {
      id,
      name,
      price,
      changePercent,
      volume,
      marketCap,
      updatedAt,
      others: meant.others,
    })
  })
}

const errorBody = z.object({ error: z.string() })

function refuseError(reply: Reply): void {
  const { status } = reply
  // CoinPaprika's 402 reports an exhausted quota, its 403 an invalid key.
  if (status === 402 || status === 403) throw new UpstreamFailure('auth', `key or quota: HTTP ${status}`)
  // CoinPaprika's own "id not found", as opposed to the 404 page of a wrong host.
  if (status === 404 && errorIn(reply, errorBody) === undefined) throw new UpstreamFailure('bad_payload', 'HTTP 404')
  refuseStatus(reply)
}
