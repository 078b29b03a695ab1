import type { Context } from 'koa'
import type { Clock } from '@tollbook/core/clock'
import type { Dispatch } from '../paywall/answer.ts'
import type { PaidRequest } from '../paywall/paidRequest.ts'
import type { Log } from '../machine/log.ts'
import type { Permit } from './admission.ts'
import { type AdmitDeps, reportAddressState, takePermit } from './admitRequest.ts'
import type { Pass } from './callerLimits.ts'

export interface VisitDeps extends AdmitDeps {
  readonly clock: Clock
  readonly log: Log
}

export type PaidVisit = ReturnType<typeof openVisit>

export function openVisit(deps: VisitDeps, { context, pass }: { readonly context: Context; readonly pass: Pass }) {
  const startedAtMs = deps.clock.monotonicMs()
  const requestId = String(context.state['requestId'])
  let permit: Permit | undefined
  const facts: Pick<PaidRequest, 'requestId' | 'limitQuotes' | 'limitLookups' | 'onClaimed'> = {
    requestId,
    limitQuotes: pass.limitQuotes,
    limitLookups: pass.limitLookups,
    onClaimed({ payer, priceMicroUsd, isFirst, isQuoted }) {
      permit?.prove()
      if (!isFirst) return
      pass.onPaid(payer, isQuoted)
      permit?.earn(priceMicroUsd)
      reportAddressState(deps, context.res, 'paid')
    },
  }
  return {
    /** Facts for the sale, which do not depend on the wire format. */
    facts,
    /** Takes a permit for the request, which has fully arrived. Returns false if the instance is overloaded. */
    enter(): boolean {
      permit = takePermit(deps, context)
      return permit !== undefined
    },
    /** Logs a paid answer. Does nothing for an answer without a dispatch. */
    served(endpoint: string, dispatch: Dispatch | undefined): void {
      if (dispatch === undefined) return
      const { wallet, reference, position, isReplay } = dispatch
      const durationMs = Math.round(deps.clock.monotonicMs() - startedAtMs)
      deps.log.info({ event: 'request_served', requestId, endpoint, wallet, reference, position, isReplay, durationMs })
    },
    leave: () => permit?.leave(),
  }
}
