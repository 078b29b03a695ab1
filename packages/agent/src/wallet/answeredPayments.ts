import type { PaymentStore, PendingPayment } from '@tollbook/client'

/**
 * Keeps an answered payment open until the front end has received the answer. If the wallet process ends before that,
 * the same request gets the stored answer of the service, not a second purchase.
 */
export interface AnsweredPayments {
  readonly store: PaymentStore
  /** Call it when the front end has received the whole answer. */
  received(signature: string): Promise<void>
  /** Lets the next equal request take the payment, because the wallet has sent the answer or cannot send it. */
  release(signature: string): void
}

export function keepUntilReceived(folder: PaymentStore): AnsweredPayments {
  const waiting = new Map<string, PendingPayment>()
  const store: PaymentStore = {
    ...folder,
    async close(payment, outcome) {
      // Close a deposit at once, because no front end waits for its answer.
      if (outcome === 'answered' && payment.isDeposit !== true) waiting.set(payment.signature, payment)
      else await folder.close(payment, outcome)
    },
    async pending() {
      // Filter with the payments from before the read too, because a payment may be closed during the read, whose
      // result still contains it.
      const before = new Set(waiting.keys())
      const pending = await folder.pending()
      return pending.filter(({ signature }) => !before.has(signature) && !waiting.has(signature))
    },
  }
  return {
    store,
    async received(signature) {
      // Read the folder too, because after a restart only the folder has the payment.
      const payment =
        waiting.get(signature) ?? (await folder.pending()).find((pending) => pending.signature === signature)
      if (payment !== undefined) await folder.close(payment, 'answered')
      waiting.delete(signature)
    },
    release: (signature) => void waiting.delete(signature),
  }
}
