import { z } from 'zod'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { createMarket, figure, type Market } from './marketPrice.ts'
import type { UpstreamAccess } from '../outbound/publicUpstream.ts'
import { readJson } from '../outbound/upstreamReply.ts'

const prices = z.record(z.string(), z.unknown())
const priced = z.object({ usdPrice: figure, liquidity: figure, decimals: z.number().nullish() })

/** Opens Jupiter's price API v3. Jupiter derives the price from the latest swaps in all pools. */
export function createJupiter(deps: UpstreamAccess): Market {
  return createMarket(deps, {
    setting: 'JUPITER',
    publicBase: 'https://api.jup.ag',
    // Jupiter's limit without a key is 30 requests in any minute.
    pace: { requests: 30, perSeconds: 60 },
    request: ({ address }) => ({ path: '/price/v3', query: { ids: address } }),
    read(reply, { address, decimals }) {
      const body = readJson(reply, prices)
      const token = priced.nullable().safeParse(Object.hasOwn(body, address) ? body[address] : null)
      if (!token.success || (token.data === null && isError(body)))
        throw new UpstreamFailure('bad_payload', 'no price list')
      // A token without a price is absent from the answer.
      if (token.data === null) throw new UpstreamFailure('not_found', 'it has no price for the token')
      if ((token.data.decimals ?? decimals) !== decimals)
        throw new UpstreamFailure('bad_payload', 'it gives the token other decimals than the chain does')
      return { price: token.data.usdPrice, liquidity: token.data.liquidity }
    },
  })
}

/**
 * True if the answer is an error with status 200. A normal answer has only mint addresses as keys, so each of these
 * keys marks an error.
 */
function isError(body: Readonly<Record<string, unknown>>): boolean {
  return ['error', 'message', 'code', 'status', 'success'].some((key) => Object.hasOwn(body, key))
}
