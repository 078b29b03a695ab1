import { z } from 'zod'
import { type MarketReading } from '../../pricing/agreement.ts'
import { parseMarketPrice } from '../../pricing/tokenPrice.ts'
import { parseRoundingDown } from '@tollbook/core/money'
import type { Reply } from '../../outbound/upstream.ts'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import type { Provider } from './provider.ts'

/** The token whose price is asked for. */
export interface Mint {
  readonly address: string
  readonly decimals: number
}

/** A market for the token. The endpoints do not ask it: `jobs/priceWatch.ts` does, by the clock. */
export type Market = Provider<Mint, Omit<MarketReading, 'source'>>

/** Some write figures as JSON numbers, others as text. A number comes back as the shortest decimal that is it, 15 digits and more. */
export const figure = z
  .union([z.string().max(120), z.number()])
  .transform(String)
  .nullish()
  .transform((text) => text ?? undefined)
export type Figure = z.infer<typeof figure>

/** A market without a price we can believe has failed: it is never taken for a price of zero. */
export function readFigures({ price, liquidity }: { readonly price: Figure; readonly liquidity: Figure }) {
  if (price === undefined) throw new UpstreamFailure('incomplete', 'the token is listed without a price')
  const tokenPriceAttoUsd = parseMarketPrice(price)
  if (tokenPriceAttoUsd === undefined) throw new UpstreamFailure('incomplete', 'its price cannot be that of a token')
  const liquidityUsd = liquidity === undefined ? undefined : parseRoundingDown(liquidity, 0)
  // Not the same as an untold one: that would give a voice to a pool that says it has less than nothing.
  if (liquidity !== undefined && liquidityUsd === undefined)
    throw new UpstreamFailure('incomplete', 'its liquidity is no amount')
  return { tokenPriceAttoUsd, liquidityUsd }
}

const staleSeconds = 120

/** None of the three says when its price was true; but a cache on the way says how long it has kept the answer. */
export function refuseStale({ headers }: Reply): void {
  const age = headers.get('age') ?? ''
  if (/^\d{1,9}$/.test(age) && Number(age) > staleSeconds)
    throw new UpstreamFailure('incomplete', `the answer was kept for ${age} s on its way`)
}
