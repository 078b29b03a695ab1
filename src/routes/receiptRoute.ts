import type { Log } from '../machine/log.ts'
import type { Sales } from '../paywall/sales.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { parseQuery } from '../transport/parseQuery.ts'
import { errorAnswer, invalidRequest } from '../transport/transportError.ts'
import { privateData, unlessSilent } from './unlessSilent.ts'

export interface ReceiptRouteDeps {
  readonly sales: Pick<Sales, 'findReceipt'>
  readonly log: Log
}

/**
 * Creates the route that returns the receipt of an answer that cannot contain it. The answer names the route in the
 * header `receipt-location`. The route is free, because the answer has been paid for.
 */
export function receiptRoute(deps: ReceiptRouteDeps): FreeRoute {
  return { path: '/api/receipts/:reference', serve: (request) => serveReceipt(deps, request) }
}

async function serveReceipt({ sales, log }: ReceiptRouteDeps, { segment, query }: FreeRequest): Promise<FreeAnswer> {
  const parsed = parseQuery(query)
  if (!parsed.ok) return invalidRequest([parsed.problem])
  const { attempt: attemptId, ...strays } = parsed.values
  if (attemptId === undefined || Object.keys(strays).length > 0)
    return invalidRequest([{ field: 'attempt', message: 'must be given once, and nothing else' }])
  return unlessSilent({ log, event: 'receipt_unreadable' }, async () => {
    const found = await sales.findReceipt({ reference: segment, attemptId })
    return found === undefined
      ? errorAnswer('NOT_FOUND', 'no answer was delivered under this reference and attempt')
      : privateData(found)
  })
}
