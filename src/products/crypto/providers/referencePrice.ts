import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { CryptoQuery } from './cryptoPrice.ts'
import type { Witness } from '../../../sourcing/provider.ts'

/** An exchange as a price check: the last trade in dollars. */
export type ReferencePrice = Witness<CryptoQuery>

// The check must not delay the caller: an exchange that has not answered by then is ignored.
export const referenceMsMax = 1_000

/** Failure for a coin without a dollar pair at this exchange. It does not count against the exchange. */
export function notTraded(): UpstreamFailure {
  return new UpstreamFailure('not_covered', 'the coin is not traded against the dollar here')
}
