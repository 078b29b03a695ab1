import { sha256Hex } from '@tollbook/core/digest'
import type { PayableRequest } from './payableRequest.ts'
import type { PendingPayment, PendingRequest } from './pendingPayment.ts'

/**
 * Digest of a request and its wallet, without the idempotency key. One payment could serve all requests with the same
 * digest.
 */
export function orderOf({ request, wallet }: Pick<PendingPayment, 'request' | 'wallet'>): string {
  return sha256Hex(`${wallet} ${fingerprint(request)}`).slice(0, orderCharacters)
}

const orderCharacters = 32

/** True for equal requests of one wallet, with the same idempotency key if the caller gave one. */
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

/** A repeated call of a tool may come in another session of MCP, for example after a crash. */
function fingerprint({ method, url, headers, bodyBase64 = '' }: PendingRequest): string {
  const lasting = headers.filter(([name]) => name !== 'mcp-session-id')
  return JSON.stringify([method, url, lasting, bodyBase64])
}
