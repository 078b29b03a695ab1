import { z } from 'zod'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { figure, type Market, readFigures, refuseStale } from './marketPrice.ts'
import { type ProviderDeps, readJson, refuseStatus } from '../../../sourcing/provider.ts'

// Limit without a key: 30 a minute in a sliding window. We ask four times a minute.
const pace = { requests: 30, perSeconds: 60 }
const timeoutMs = 3_000

const prices = z.record(z.string(), z.unknown())
const priced = z.object({ usdPrice: figure, liquidity: figure, decimals: z.number().nullish() })

/** Price v3: one price over all pools, from the last swaps. */
export function createJupiter({ clock, upstreams: { JUPITER }, openUpstream }: ProviderDeps): Market {
  const upstream = openUpstream({
    name: 'jupiter',
    base: baseUrlOf(JUPITER, 'https://api.jup.ag'),
    pace,
    timeoutMs,
    ...(JUPITER?.apiKey === undefined ? {} : { headers: { 'x-api-key': JUPITER.apiKey } }),
  })
  return {
    name: 'jupiter',
    whyUnavailable: () => upstream.whyResting(),
    ask: ({ address, decimals }) =>
      upstream.ask({ path: '/price/v3', query: { ids: address } }, (reply) => {
        refuseStatus(reply)
        refuseStale(reply)
        const body = readJson(reply, prices)
        const token = priced.nullable().safeParse(Object.hasOwn(body, address) ? body[address] : null)
        if (!token.success || (token.data === null && isError(body)))
          throw new UpstreamFailure('bad_payload', 'no price list')
        // Tokens without a price are left out of the answer.
        if (token.data === null) throw new UpstreamFailure('not_found', 'it has no price for the token')
        if ((token.data.decimals ?? decimals) !== decimals)
          throw new UpstreamFailure('bad_payload', 'it gives the token other decimals than the chain does')
        const data = readFigures({ price: token.data.usdPrice, liquidity: token.data.liquidity })
        return { data, asOfMs: clock.nowMs() }
      }),
  }
}

/** The answer is keyed by mint. An object without a mint but with other keys is an error under HTTP 200. */
function isError(body: Readonly<Record<string, unknown>>): boolean {
  return ['error', 'message', 'code', 'status', 'success'].some((key) => Object.hasOwn(body, key))
}
