import type { Json } from '@tollbook/core/canonicalJson'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { jsonAnswer } from '../paywall/answer.ts'
import type { FreeAnswer, FreeRoute } from '../transport/freeRoute.ts'
import { errorAnswer } from '../transport/transportError.ts'

export interface BurnRouteDeps {
  readonly log: Log
  /** Undefined if the ledger has no verified payment with this reference. */
  readonly burnOf: (reference: string) => Promise<Json | undefined>
}

/**
 * Reports whether the burn of a payment was made, and in which transaction. Free and public, because payment and burn
 * are on chain. A receipt with `burnOwed` never changes, so it cannot report the burn.
 */
export function burnRoute(deps: BurnRouteDeps): FreeRoute {
  return { path: '/api/token/burns/:reference', serve: ({ segment }) => serveBurn(deps, segment) }
}

async function serveBurn({ burnOf, log }: BurnRouteDeps, segment: string): Promise<FreeAnswer> {
  try {
    const found = await burnOf(segment)
    if (found !== undefined)
      return jsonAnswer(200, JSON.stringify({ success: true, data: found }), { 'cache-control': 'public, max-age=1' })
    return errorAnswer('NOT_FOUND', 'the ledger has no payment of this reference: use the `signature` of a receipt')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    log.warn({ event: 'burn_unreadable', error: describeError(error) })
    const body = { error: 'the ledger did not answer; try again in 2 s', code: 'ENDPOINT_UNAVAILABLE' }
    return jsonAnswer(503, JSON.stringify(body), { 'retry-after': '2' })
  }
}
