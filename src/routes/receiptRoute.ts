import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { jsonAnswer } from '../paywall/answer.ts'
import type { Sales } from '../paywall/sales.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { parseQuery } from '../transport/parseQuery.ts'
import { errorAnswer, invalidRequest } from '../transport/transportError.ts'

export interface ReceiptRouteDeps {
  readonly sales: Pick<Sales, 'findReceipt'>
  readonly log: Log
}

/** Serves the address in `receipt-location` of a streamed answer. Free: the answer is paid for. */
export function receiptRoute(deps: ReceiptRouteDeps): FreeRoute {
  return { path: '/api/receipts/:reference', serve: (request) => serveReceipt(deps, request) }
}

async function serveReceipt(deps: ReceiptRouteDeps, { segment, query }: FreeRequest): Promise<FreeAnswer> {
  const parsed = parseQuery(query)
  if (!parsed.ok) return invalidRequest([parsed.problem])
  const { attempt: attemptId, ...strays } = parsed.values
  if (attemptId === undefined || Object.keys(strays).length > 0)
    return invalidRequest([{ field: 'attempt', message: 'must be given once, and nothing else' }])
  try {
    const found = await deps.sales.findReceipt({ reference: segment, attemptId })
    if (found !== undefined)
      return jsonAnswer(200, JSON.stringify({ success: true, data: found }), { 'cache-control': 'private, no-store' })
    return errorAnswer('NOT_FOUND', 'no answer was delivered under this reference and attempt')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    deps.log.warn({ event: 'receipt_unreadable', error: describeError(error) })
    const body = { error: 'the ledger did not answer; try again in 2 s', code: 'ENDPOINT_UNAVAILABLE' }
    return jsonAnswer(503, JSON.stringify(body), { 'retry-after': '2' })
  }
}
