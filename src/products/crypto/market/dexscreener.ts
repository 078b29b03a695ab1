import { z } from 'zod'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { figure, type Market, readFigures, refuseStale } from './marketPrice.ts'
import { type ProviderDeps, readJson, refuseStatus } from '../../../sourcing/provider.ts'

// Published limit: 300 a minute.
const pace = { requests: 60, perSeconds: 60 }
const timeoutMs = 3_000
// The provider returns thirty pairs.
const pairsMax = 200

const count = z.number().nullish()
const unread = z.string().nullish().catch(undefined)
const pair = z.object({
  chainId: z.string().nullish(),
  baseToken: z.object({ address: z.string(), symbol: unread, name: unread }),
  priceUsd: figure,
  liquidity: z.object({ usd: figure }).nullish(),
  // The key of a period without trades is missing.
  priceChange: z.object({ h24: figure }).nullish().catch(undefined),
  volume: z.object({ h24: figure }).nullish().catch(undefined),
  fdv: figure.catch(undefined),
  marketCap: figure.catch(undefined),
  txns: z.object({ h24: z.object({ buys: count, sells: count }).nullish() }).nullish(),
})
type TokenPair = z.infer<typeof pair>
export const dexscreenerPairs = z.array(pair).max(pairsMax)

/** The deepest pool in which the token is the base. */
export function createDexscreener({ clock, upstreams: { DEXSCREENER }, openUpstream }: ProviderDeps): Market {
  const upstream = openUpstream({
    name: 'dexscreener',
    base: baseUrlOf(DEXSCREENER, 'https://api.dexscreener.com'),
    pace,
    timeoutMs,
  })
  return {
    name: 'dexscreener',
    whyUnavailable: () => upstream.whyResting(),
    ask: ({ address }) =>
      upstream.ask({ path: `/tokens/v1/solana/${address}` }, (reply) => {
        refuseStatus(reply)
        refuseStale(reply)
        const { priceUsd, liquidity } = poolsOf(readJson(reply, dexscreenerPairs), address).deepest
        return { data: readFigures({ price: priceUsd, liquidity: liquidity?.usd }), asOfMs: clock.nowMs() }
      }),
  }
}

/** The traded pools of a token with a price, and the deepest of them. */
export function poolsOf(all: readonly TokenPair[], mint: string) {
  // Addresses are case-sensitive. A pair with the token as the quote states the price of its partner.
  const own = all.filter(({ chainId, baseToken }) => (chainId ?? 'solana') === 'solana' && baseToken.address === mint)
  if (own.length === 0) throw new UpstreamFailure('not_found', 'it has no pool of the token')
  const priced = own.filter((one) => one.priceUsd !== undefined && isTraded(one))
  const [deepest] = priced.toSorted((one, other) => depthOf(other) - depthOf(one))
  // Pools cannot be compared without their depth.
  if (deepest === undefined || depthOf(deepest) === 0)
    throw new UpstreamFailure('incomplete', 'it has no pool of the token with a price, liquidity and trades')
  return { deepest, all: priced }
}

/** Pools without a trade in the last day have an outdated price. */
function isTraded({ txns }: TokenPair): boolean {
  const day = txns?.h24
  return day === null || day === undefined || (day.buys ?? 0) + (day.sells ?? 0) > 0
}

/** Compares one pool with another. */
function depthOf({ liquidity }: TokenPair): number {
  const usd = Number(liquidity?.usd ?? 0)
  return Number.isFinite(usd) && usd > 0 ? usd : 0
}
