import type { PayableRequest } from './payableRequest.ts'
import { isPaymentFor, orderOf } from './paymentOrder.ts'
import type { PaymentOutcome, PaymentStore } from './paymentStore.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { createSharedTurns, type SharedTurn } from './sharedTurns.ts'

export type OpenPayments = ReturnType<typeof createOpenPayments>

/** A payment is open from its signature to its answer. Each is handed to one call at a time, which resumes it. */
export function createOpenPayments(store: PaymentStore | undefined) {
  const busy = new Map<string, SharedTurn | undefined>()
  const turns = createSharedTurns(store)
  // Payments closed during a read of the store, which may still return them.
  const closed = new Set<string>()
  let reading = 0
  // Mark it as busy before it is stored, so that no other call takes it.
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
     * Waits for its turn, then takes the payment that an earlier call made for exactly this request, so that the
     * request is not paid twice. Call `leave` for each call and each payment that has ended.
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
      // Ignore a failed write: an open payment is presented again, and never paid again.
      await store?.close(payment, outcome).catch(() => undefined)
      if (reading > 0) closed.add(payment.signature)
      await leave(payment)
    },
    /** Call this when the payment has its answer, or its call ended without one. A later call may take it. */
    leave,
  }
}
