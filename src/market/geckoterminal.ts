import { z } from 'zod'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { createMarket, figure, type Market } from './marketPrice.ts'
import { parseJson, readJson } from '../outbound/upstreamReply.ts'
import type { UpstreamAccess } from '../outbound/publicUpstream.ts'

const byMint = z.record(z.string(), figure)
const answer = z.object({
  data: z.object({ attributes: z.object({ token_prices: byMint, total_reserve_in_usd: byMint.nullish() }) }),
})
/** The two forms of an error in the body: `status` for rate limits, and `errors` for all other errors. */
const limited = z.object({ status: z.object({ error_code: z.number() }) })
const refused = z.object({ errors: z.array(z.object({ status: z.union([z.string(), z.number()]).optional() })).min(1) })

/**
 * Opens GeckoTerminal. Price and liquidity are over all pools, so the liquidity is larger than at markets that report
 * one pool.
 */
export function createGeckoterminal(deps: UpstreamAccess): Market {
  return createMarket(deps, {
    setting: 'GECKOTERMINAL',
    publicBase: 'https://api.geckoterminal.com',
    // Below the documented limit of 30 requests a minute, because GeckoTerminal refuses bursts earlier.
    pace: { requests: 20, perSeconds: 60 },
    request: ({ address }) => ({
      path: `/api/v2/simple/networks/solana/token_price/${address}`,
      query: { include_24hr_price_change: 'true', include_total_reserve_in_usd: 'true' },
    }),
    read(reply, { address }) {
      refuseErrors(parseJson(reply))
      const { token_prices: prices, total_reserve_in_usd: reserves } = readJson(reply, answer).data.attributes
      const price = Object.hasOwn(prices, address) ? prices[address] : undefined
      // The price of an unknown token is absent or null.
      if (price === undefined) throw new UpstreamFailure('not_found', 'it has no price for the token')
      return { price, liquidity: reserves?.[address] }
    },
  })
}

/** Throws for an error in either form, whatever the status, because errors also arrive with status 200. */
function refuseErrors(body: unknown): void {
  if (limited.safeParse(body).data?.status.error_code === 429)
    throw new UpstreamFailure('rate_limited', 'it asks us to wait')
  const errors = refused.safeParse(body)
  if (!errors.success && !limited.safeParse(body).success) return
  const status = Number(errors.data?.errors[0]?.status ?? 0)
  if (status === 401) throw new UpstreamFailure('auth', 'it refuses us')
  if (status === 404) throw new UpstreamFailure('not_found', 'it has no such token')
  throw new UpstreamFailure('bad_payload', 'an error in place of an answer')
}
