import { z } from 'zod'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { createMarket, figure, type Market } from './marketPrice.ts'
import type { UpstreamAccess } from '../outbound/publicUpstream.ts'
import { readJson } from '../outbound/upstreamReply.ts'

// Maximum of pairs to accept, far above the number that DEX Screener returns.
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

/** Opens DEX Screener. The price is that of the deepest pool in which the token is the base token. */
export function createDexscreener(deps: UpstreamAccess): Market {
  return createMarket(deps, {
    setting: 'DEXSCREENER',
    publicBase: 'https://api.dexscreener.com',
    // DEX Screener publishes a limit of 300 requests a minute.
    pace: { requests: 60, perSeconds: 60 },
    request: ({ address }) => ({ path: `/tokens/v1/solana/${address}` }),
    read(reply, { address }) {
      const { priceUsd, liquidity } = deepestOf(readJson(reply, pairs), address)
      return { price: priceUsd, liquidity: liquidity?.usd }
    },
  })
}

/** Throws if no pool has a price, liquidity and recent trades. */
function deepestOf(all: readonly TokenPair[], mint: string): TokenPair {
  // Compare addresses case-sensitively. Skip pairs in which the token is the quote token, because they state the price
  // of the other token.
  const own = all.filter(({ chainId, baseToken }) => (chainId ?? 'solana') === 'solana' && baseToken.address === mint)
  if (own.length === 0) throw new UpstreamFailure('not_found', 'it has no pool of the token')
  const [deepest] = own
    .filter((one) => one.priceUsd !== undefined && isTraded(one))
    .toSorted((one, other) => depthOf(other) - depthOf(one))
  // Refuse pools without a known depth, because they cannot be compared.
  if (deepest === undefined || depthOf(deepest) === 0)
    throw new UpstreamFailure('incomplete', 'it has no pool of the token with a price, liquidity and trades')
  return deepest
}

/** True if the pool had a trade within a day, or does not report trades. The price of a pool without trades is outdated. */
function isTraded({ txns }: TokenPair): boolean {
  const day = txns?.h24
  return day === null || day === undefined || (day.buys ?? 0) + (day.sells ?? 0) > 0
}

/** Returns the liquidity in dollars, by which pools are compared. Zero if it is missing or unusable. */
function depthOf({ liquidity }: TokenPair): number {
  const usd = Number(liquidity?.usd ?? 0)
  return Number.isFinite(usd) && usd > 0 ? usd : 0
}
