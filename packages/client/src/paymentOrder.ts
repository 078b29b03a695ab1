import { sha256Hex } from '@tollbook/core/digest'
import type { PayableRequest } from './payableRequest.ts'
import type { PendingPayment, PendingRequest } from './pendingPayment.ts'

/** Digest of the request and its wallet, whatever its idempotency key: orders that one payment could serve. */
export function orderOf({ request, wallet }: Pick<PendingPayment, 'request' | 'wallet'>): string {
  return sha256Hex(`${wallet} ${fingerprint(request)}`).slice(0, orderCharacters)
}

const orderCharacters = 32

/** Equal requests of one wallet, and the same idempotency key if the caller gave one. */
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

function fingerprint({ method, url, headers, bodyBase64 = '' }: PendingRequest): string {
  return JSON.stringify([method, url, headers, bodyBase64])
}
