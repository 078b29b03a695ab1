import { z } from 'zod'
import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { poolsOf, dexscreenerPairs } from '../market/dexscreener.ts'
import { readGeckoterminal } from '../market/geckoterminal.ts'
import { figure, refuseStale } from '../market/marketPrice.ts'
import { paceOf, positive, type ProviderDeps, readJson, refuseStatus } from '../../../sourcing/provider.ts'
import { numberOf, tokenObservation, type TokenProvider, type TokenWitness } from './tokenPrice.ts'

/*
 * The markets of the token price, for tokens that buyers ask for. The job that prices the service token has its own requests, so these
 * take a part of each limit.
 */

/** The provider publishes a limit of 300 a minute. */
const dexscreenerPace = { requests: 60, perSeconds: 60 }
/** The provider publishes a limit of 30 a minute, but refuses more than a burst of four to six. */
const geckoterminalPace = { requests: 8, perSeconds: 60 }
/** The provider allows 30 a minute without a key. */
const jupiterPace = { requests: 20, perSeconds: 60 }

/** All pools in which the token is the base; the deepest one has the price. */
export function createDexscreenerToken({
  clock,
  upstreams: { DEXSCREENER },
  openUpstream,
}: ProviderDeps): TokenProvider {
  const base = baseUrlOf(DEXSCREENER, 'https://api.dexscreener.com')
  const pace = paceOf(DEXSCREENER, dexscreenerPace)
  const upstream = openUpstream({ name: 'dexscreener', base, pace, timeoutMs: 3_000 })
  return {
    name: 'dexscreener',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    ask: (query) =>
      upstream.ask({ path: `/tokens/v1/solana/${query.symbol}` }, (reply) => {
        refuseStatus(reply)
        refuseStale(reply)
        const { deepest, all } = poolsOf(readJson(reply, dexscreenerPairs), query.symbol)
        const sum = (each: (pool: (typeof all)[number]) => number | undefined) =>
          all.reduce((total, pool) => total + Math.max(0, each(pool) ?? 0), 0)
        return tokenObservation(query, {
          price: numberOf(deepest.priceUsd),
          changePercent: numberOf(deepest.priceChange?.h24),
          volume: sum(({ volume }) => numberOf(volume?.h24)),
          marketCap: numberOf(deepest.marketCap ?? deepest.fdv),
          liquidity: sum(({ liquidity }) => numberOf(liquidity?.usd)),
          symbol: deepest.baseToken.symbol,
          name: deepest.baseToken.name,
          asOfMs: clock.nowMs() - ageMsOf(reply),
        })
      }),
  }
}

/** One price, volume and reserve over all pools. */
export function createGeckoterminalToken(deps: ProviderDeps): TokenProvider {
  const { clock, openUpstream } = deps
  const { GECKOTERMINAL } = deps.upstreams
  const base = baseUrlOf(GECKOTERMINAL, 'https://api.geckoterminal.com')
  const pace = paceOf(GECKOTERMINAL, geckoterminalPace)
  const upstream = openUpstream({ name: 'geckoterminal', base, pace, timeoutMs: 3_000 })
  const fields = {
    include_market_cap: 'true',
    // A token without a known supply in circulation has the value of all its tokens, as at DexScreener.
    mcap_fdv_fallback: 'true',
    include_24hr_vol: 'true',
    include_24hr_price_change: 'true',
    include_total_reserve_in_usd: 'true',
  }
  return {
    name: 'geckoterminal',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    ask: (query) =>
      upstream.ask({ path: `/api/v2/simple/networks/solana/token_price/${query.symbol}`, query: fields }, (reply) => {
        const found = readGeckoterminal(reply, query.symbol)
        return tokenObservation(query, {
          price: numberOf(found.price),
          changePercent: numberOf(found.changePercent),
          volume: numberOf(found.volume),
          marketCap: numberOf(found.marketCap),
          liquidity: numberOf(found.liquidity),
          asOfMs: clock.nowMs() - ageMsOf(reply),
        })
      }),
  }
}

const jupiterPrices = z.record(z.string(), z.unknown())
const jupiterPrice = z.object({ usdPrice: figure, priceChange24h: figure })

/** Confirms a price and its change. It reports neither volume nor capitalisation. */
export function createJupiterWitness({ upstreams: { JUPITER }, openUpstream }: ProviderDeps): TokenWitness {
  const upstream = openUpstream({
    name: 'jupiter',
    base: baseUrlOf(JUPITER, 'https://api.jup.ag'),
    pace: paceOf(JUPITER, jupiterPace),
    timeoutMs: 2_000,
    ...(JUPITER?.apiKey === undefined ? {} : { headers: { 'x-api-key': JUPITER.apiKey } }),
  })
  return {
    name: 'jupiter',
    covers: () => true,
    ask: ({ symbol: mint }) =>
      upstream.ask({ path: '/price/v3', query: { ids: mint } }, (reply) => {
        refuseStatus(reply)
        refuseStale(reply)
        const body = readJson(reply, jupiterPrices)
        const found = jupiterPrice.safeParse(Object.hasOwn(body, mint) ? body[mint] : undefined)
        if (!found.success) throw new UpstreamFailure('not_found', 'it has no price for the token')
        const price = positive(numberOf(found.data.usdPrice), 'the price')
        const change24h = numberOf(found.data.priceChange24h)
        return { figures: { price, ...(change24h === undefined ? {} : { change24h }) } }
      }),
  }
}

/** A cache on the way reports the age of the answer. */
function ageMsOf({ headers }: Reply): number {
  const age = headers.get('age') ?? ''
  return /^\d{1,9}$/.test(age) ? Number(age) * 1_000 : 0
}
