import type { Json } from '@tollbook/core/canonicalJson'
import type { Log } from '../machine/log.ts'
import { jsonAnswer } from '../paywall/answer.ts'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { errorAnswer } from '../transport/transportError.ts'
import { unlessSilent } from './unlessSilent.ts'

export interface BurnRouteDeps {
  readonly log: Log
  /** Finds the burn of a payment. Undefined if the ledger has no verified payment with this reference. */
  readonly burnOf: (reference: string) => Promise<Json | undefined>
}

/**
 * Reports whether the burn of a payment was made, and in which transaction. The route is free and public, because
 * payment and burn are on chain. A receipt with `burnOwed` never changes, so it cannot report the burn.
 */
export function burnRoute({ burnOf, log }: BurnRouteDeps): FreeRoute {
  return {
    path: '/api/token/burns/:reference',
    serve: ({ segment }) =>
      unlessSilent({ log, event: 'burn_unreadable' }, async () => {
        const data = await burnOf(segment)
        return data === undefined
          ? errorAnswer(
              'NOT_FOUND',
              'the ledger has no payment of this reference: use the `signature` of a receipt, or `tab:ID:NUMBER` of its `tab`',
            )
          : jsonAnswer(200, JSON.stringify({ success: true, data }), { 'cache-control': 'public, max-age=1' })
      }),
  }
}
