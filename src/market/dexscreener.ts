import { z } from 'zod'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { createMarket, figure, type Market } from './marketPrice.ts'
import type { UpstreamAccess } from '../outbound/publicUpstream.ts'
import { readJson } from '../outbound/upstreamReply.ts'

// Accept up to 200 pairs. The provider returns thirty.
const pairsMax = 200

const count = z.number().nullish()
const pair = z.object({
  chainId: z.string().nullish(),
  baseToken: z.object({ address: z.string() }),
  priceUsd: figure,
  liquidity: z.object({ usd: figure }).nullish(),
  txns: z.object({ h24: z.object({ buys: count, sells: count }).nullish() }).nullish(),
})
type TokenPair = z.infer<typeof pair>
const pairs = z.array(pair).max(pairsMax)

/** Reads the price from the deepest pool in which the token is the base. */
export function createDexscreener(deps: UpstreamAccess): Market {
  return createMarket(deps, {
    setting: 'DEXSCREENER',
    publicBase: 'https://api.dexscreener.com',
    // Published limit: 300 a minute.
    pace: { requests: 60, perSeconds: 60 },
    request: ({ address }) => ({ path: `/tokens/v1/solana/${address}` }),
    read(reply, { address }) {
      const { priceUsd, liquidity } = deepestOf(readJson(reply, pairs), address)
      return { price: priceUsd, liquidity: liquidity?.usd }
    },
  })
}

/** Returns the deepest pool of a token that has a price and recent trades. */
function deepestOf(all: readonly TokenPair[], mint: string): TokenPair {
  // Compare addresses with their case. In a pair with the token as the quote, the price is that of the other token.
  const own = all.filter(({ chainId, baseToken }) => (chainId ?? 'solana') === 'solana' && baseToken.address === mint)
  if (own.length === 0) throw new UpstreamFailure('not_found', 'it has no pool of the token')
  const [deepest] = own
    .filter((one) => one.priceUsd !== undefined && isTraded(one))
    .toSorted((one, other) => depthOf(other) - depthOf(one))
  // Refuse pools without a depth, because they cannot be compared.
  if (deepest === undefined || depthOf(deepest) === 0)
    throw new UpstreamFailure('incomplete', 'it has no pool of the token with a price, liquidity and trades')
  return deepest
}

/** True if a pool had a trade in the last day. The price of other pools is outdated. */
function isTraded({ txns }: TokenPair): boolean {
  const day = txns?.h24
  return day === null || day === undefined || (day.buys ?? 0) + (day.sells ?? 0) > 0
}

/** Returns the depth by which pools are compared. */
function depthOf({ liquidity }: TokenPair): number {
  const usd = Number(liquidity?.usd ?? 0)
  return Number.isFinite(usd) && usd > 0 ? usd : 0
}
