import { z } from 'zod'
import { type MarketReading } from '../pricing/agreement.ts'
import { parseMarketPrice } from '../pricing/tokenPrice.ts'
import { parseRoundingDown } from '@tollbook/core/money'
import type { PaceLimit } from '../outbound/pace.ts'
import type { Reply, UpstreamRequest } from '../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { openUpstreamOf, type UpstreamAccess } from '../outbound/publicUpstream.ts'
import { refuseStatus } from '../outbound/upstreamReply.ts'

export interface PricedToken {
  readonly address: string
  readonly decimals: number
}

export interface Market {
  readonly name: string
  /** Requests the price, with a time-out of 3 s. Throws only `UpstreamFailure`. */
  ask(token: PricedToken): Promise<{ readonly data: Omit<MarketReading, 'source'>; readonly asOfMs: number }>
}

/** Schema of a figure that is a JSON number or a text. A number becomes a text that keeps 15 significant digits. */
export const figure = z
  .union([z.string().max(120), z.number()])
  .transform(String)
  .nullish()
  .transform((text) => text ?? undefined)
export type Figure = z.infer<typeof figure>

interface MarketFigures {
  readonly price: Figure
  readonly liquidity: Figure
}

interface MarketApi {
  readonly setting: 'JUPITER' | 'DEXSCREENER' | 'GECKOTERMINAL'
  readonly publicBase: string
  readonly pace: PaceLimit
  readonly request: (token: PricedToken) => UpstreamRequest
  readonly read: (reply: Reply, token: PricedToken) => MarketFigures
}

/** Opens a market for the price of the token. If the operator has set a key, it is sent as `x-api-key`. */
export function createMarket(deps: UpstreamAccess, { setting, publicBase, pace, request, read }: MarketApi): Market {
  const name = setting.toLowerCase()
  const apiKey = deps.upstreams[setting]?.apiKey
  const upstream = openUpstreamOf(deps, setting, {
    name,
    publicBase,
    pace,
    timeoutMs: 3_000,
    ...(apiKey === undefined ? {} : { headers: { 'x-api-key': apiKey } }),
  })
  return {
    name,
    ask: (token) =>
      upstream.ask(request(token), (reply) => {
        refuseStatus(reply)
        refuseStale(reply)
        return { data: priceOf(read(reply, token)), asOfMs: deps.clock.nowMs() }
      }),
  }
}

/** Converts the figures of a market. Throws if the price is missing or unusable, so that it never counts as zero. */
function priceOf({ price, liquidity }: MarketFigures) {
  if (price === undefined) throw new UpstreamFailure('incomplete', 'the token is listed without a price')
  const tokenPriceAttoUsd = parseMarketPrice(price)
  if (tokenPriceAttoUsd === undefined) throw new UpstreamFailure('incomplete', 'its price cannot be that of a token')
  const liquidityUsd = liquidity === undefined ? undefined : parseRoundingDown(liquidity, 0)
  // Refuse negative liquidity. If it were dropped, the market would look like a market that does not report liquidity.
  if (liquidity !== undefined && liquidityUsd === undefined)
    throw new UpstreamFailure('incomplete', 'its liquidity is not an amount')
  return { tokenPriceAttoUsd, liquidityUsd }
}

const staleSeconds = 120

/**
 * Throws if a cache has stored the answer for more than two minutes. Uses the `age` header, because markets do not
 * report the time of their price.
 */
function refuseStale({ headers }: Reply): void {
  const age = headers.get('age') ?? ''
  if (/^\d{1,9}$/.test(age) && Number(age) > staleSeconds)
    throw new UpstreamFailure('incomplete', `the answer was kept for ${age} s on its way`)
}
