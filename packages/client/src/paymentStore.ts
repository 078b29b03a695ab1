import type { Spending } from './budget.ts'
import type { PayableRequest } from './payableRequest.ts'
import type { PendingPayment, PendingRequest } from './pendingPayment.ts'

/**
 * Memory of payments that outlives the process. `openPaymentFolder` of `@tollbook/client/node` keeps them in files; a browser
 * can keep them in IndexedDB.
 */
export interface PaymentStore {
  /** Awaited before a signed payment leaves; a throw stops it. */
  keep(payment: PendingPayment): Promise<void>
  close(payment: PendingPayment, outcome: PaymentOutcome): Promise<void>
  /** Payments that were kept and not closed. */
  pending(): Promise<readonly PendingPayment[]>
  /**
   * Everything kept and not closed as `not_sent`, in the order in which it was kept, by any process. Read before each signature, and
   * again before the signed payment leaves.
   */
  spending(): Promise<readonly StoredSpending[]>
  /** Payments that were closed as `refused`. Without it, another process cannot give their amounts back to the limits. */
  refused?(): Promise<readonly PendingPayment[]>
}

/**
 * A refused payment may still move tokens, so it counts as spent. One that never left this process does not, and neither does one
 * that can no longer land: a payment closed as `refused` is closed again as `not_sent`.
 */
export type PaymentOutcome = 'answered' | 'refused' | 'not_sent'

export interface StoredSpending extends Spending {
  readonly signature: string
  readonly mint: string
}

/** Payments without an outcome, and which of them no call of this process is working on. */
export interface OpenPayments {
  keep(payment: PendingPayment): Promise<void>
  /** Takes the payment of an earlier call for exactly this request, so that the request is not paid a second time. */
  take(request: PayableRequest, wallet: string): Promise<PendingPayment | undefined>
  close(payment: PendingPayment, outcome: PaymentOutcome): Promise<void>
  /** The call has ended without an outcome; a later call may take the payment. */
  leave(payment: PendingPayment): void
}

/** A payment is open from its signature to its answer. Each is handed to one call at a time, which resumes it. */
export function createOpenPayments(store: PaymentStore | undefined): OpenPayments {
  const busy = new Set<string>()
  // Closed while the store is being read, which may still show them.
  const closed = new Set<string>()
  let reading = 0
  return {
    async keep(payment) {
      // First, so that no other call takes the payment as soon as it is stored.
      busy.add(payment.signature)
      try {
        await store?.keep(payment)
      } catch (error) {
        busy.delete(payment.signature)
        throw error
      }
    },
    async take(request, wallet) {
      reading++
      try {
        const pending = (await store?.pending()) ?? []
        const isFree = ({ signature }: PendingPayment) => !busy.has(signature) && !closed.has(signature)
        const found = pending.find((payment) => isFree(payment) && isFor(payment, request, wallet))
        if (found !== undefined) busy.add(found.signature)
        return found
      } finally {
        if (--reading === 0) closed.clear()
      }
    },
    async close(payment, outcome) {
      // The outcome is worth more than its record: a payment that stays open is presented again, and never paid again.
      await store?.close(payment, outcome).catch(() => undefined)
      if (reading > 0) closed.add(payment.signature)
      busy.delete(payment.signature)
    },
    leave: ({ signature }) => void busy.delete(signature),
  }
}

function isFor(payment: PendingPayment, { content, idempotencyKey }: PayableRequest, wallet: string): boolean {
  return (
    payment.wallet === wallet &&
    (idempotencyKey === undefined || idempotencyKey === payment.idempotencyKey) &&
    fingerprint(payment.request) === fingerprint(content)
  )
}

function fingerprint({ method, url, headers, bodyBase64 = '' }: PendingRequest): string {
  return JSON.stringify([method, url, headers, bodyBase64])
}
