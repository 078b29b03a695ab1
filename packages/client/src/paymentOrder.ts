import { sha256Hex } from '@tollbook/core/digest'
import type { PayableRequest } from './payableRequest.ts'
import type { PendingPayment, PendingRequest } from './pendingPayment.ts'

/**
 * Returns a digest of the request and the wallet. It excludes the idempotency key, so that equal requests can share one
 * payment.
 */
export function orderOf({ request, wallet }: Pick<PendingPayment, 'request' | 'wallet'>): string {
  return sha256Hex(`${wallet} ${fingerprint(request)}`).slice(0, orderCharacters)
}

const orderCharacters = 32

/**
 * True if the payment is for this request and wallet. If the caller gave an idempotency key, the keys must be equal
 * too.
 */
export function isPaymentFor(
  payment: PendingPayment,
  { content, idempotencyKey }: PayableRequest,
  wallet: string,
): boolean {
  return (
    payment.wallet === wallet &&
    (idempotencyKey === undefined || idempotencyKey === payment.idempotencyKey) &&
    fingerprint(payment.request) === fingerprint(content)
  )
}

/** Omits the MCP session, because a repeated tool call may use a new session, for example after a crash. */
function fingerprint({ method, url, headers, bodyBase64 = '' }: PendingRequest): string {
  const lasting = headers.filter(([name]) => name !== 'mcp-session-id')
  return JSON.stringify([method, url, lasting, bodyBase64])
}
