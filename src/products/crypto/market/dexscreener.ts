import { z } from 'zod'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { createMarket, figure, type Market } from './marketPrice.ts'
import { type ProviderDeps, readJson } from '../../../sourcing/provider.ts'

// The provider returns thirty pairs.
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

/** The deepest pool in which the token is the base. */
export function createDexscreener(deps: ProviderDeps): Market {
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

/** The deepest traded pool of a token with a price. */
function deepestOf(all: readonly TokenPair[], mint: string): TokenPair {
  // Addresses are case-sensitive. A pair with the token as the quote states the price of its partner.
  const own = all.filter(({ chainId, baseToken }) => (chainId ?? 'solana') === 'solana' && baseToken.address === mint)
  if (own.length === 0) throw new UpstreamFailure('not_found', 'it has no pool of the token')
  const [deepest] = own
    .filter((one) => one.priceUsd !== undefined && isTraded(one))
    .toSorted((one, other) => depthOf(other) - depthOf(one))
  // Pools cannot be compared without their depth.
  if (deepest === undefined || depthOf(deepest) === 0)
    throw new UpstreamFailure('incomplete', 'it has no pool of the token with a price, liquidity and trades')
  return deepest
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
