import type { PayableRequest } from './payableRequest.ts'
import { isPaymentFor, orderOf } from './paymentOrder.ts'
import type { PaymentOutcome, PaymentStore } from './paymentStore.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { createSharedTurns, type SharedTurn } from './sharedTurns.ts'

export type OpenPayments = ReturnType<typeof createOpenPayments>

/**
 * Manages open payments. A payment is open from its signature until it is closed. Only one call at a time may resume
 * it.
 */
export function createOpenPayments(store: PaymentStore | undefined) {
  const busy = new Map<string, SharedTurn | undefined>()
  const turns = createSharedTurns(store)
  // Payments that were closed while the store was being read, because the result of the read may still contain them.
  const closed = new Set<string>()
  let reading = 0
  // Mark the payment as busy before storing it, so that no other call takes it.
  const hold = (payment: PendingPayment) => busy.set(payment.signature, turns.hold(orderOf(payment)))
  const leave = async ({ signature }: PendingPayment): Promise<void> => {
    const turn = busy.get(signature)
    busy.delete(signature)
    if (turn !== undefined) await turns.leave(turn)
  }
  const take = async (request: PayableRequest, wallet: string) => {
    reading++
    try {
      const pending = (await store?.pending()) ?? []
      const isFree = ({ signature }: PendingPayment) => !busy.has(signature) && !closed.has(signature)
      const found = pending.find((payment) => isFree(payment) && isPaymentFor(payment, request, wallet))
      if (found !== undefined) hold(found)
      return found
    } finally {
      if (--reading === 0) closed.clear()
    }
  }
  return {
    /**
     * Waits for the turn of this order. Then returns an earlier payment for the same request, so that the request is
     * not paid twice: an open payment, or a payment that another payer completed during the wait. Call `leave` when the
     * call has ended.
     */
    async enter(request: PayableRequest, wallet: string) {
      const { turn, answered } = await turns.join(orderOf({ request: request.content, wallet }), request)
      try {
        const earlier =
          (await take(request, wallet)) ?? answered.find((payment) => isPaymentFor(payment, request, wallet))
        return { earlier, leave: () => turns.leave(turn) }
      } catch (error) {
        await turns.leave(turn)
        throw error
      }
    },
    async keep(payment: PendingPayment) {
      hold(payment)
      try {
        await store?.keep(payment)
      } catch (error) {
        await leave(payment)
        throw error
      }
    },
    async close(payment: PendingPayment, outcome: PaymentOutcome) {
      // Ignore a failed write: an open payment is presented again, never paid again.
      await store?.close(payment, outcome).catch(() => undefined)
      if (reading > 0) closed.add(payment.signature)
      await leave(payment)
    },
    /** Call it when the payment has its answer, or its call ended without one. A later call may take an open payment. */
    leave,
  }
}
