import type { PaymentStore, PendingPayment } from '@tollbook/client'

/**
 * A store that keeps an answered payment until the front end has received the answer. If the wallet dies between, the
 * payment is still open, and the same request gets the stored answer of the service instead of a second purchase.
 */
export interface AnsweredPayments {
  readonly store: PaymentStore
  /** The front end has the whole answer. */
  received(signature: string): Promise<void>
  /** The wallet has sent the answer, or cannot: the next equal request takes the payment until it is received. */
  release(signature: string): void
}

export function keepUntilReceived(folder: PaymentStore): AnsweredPayments {
  const waiting = new Map<string, PendingPayment>()
  const store: PaymentStore = {
    ...folder,
    async close(payment, outcome) {
      // No front end waits for the answer to a deposit.
      if (outcome === 'answered' && payment.isDeposit !== true) waiting.set(payment.signature, payment)
      else await folder.close(payment, outcome)
    },
    async pending() {
      // A payment may be closed during the read, which then still returns it.
      const before = new Set(waiting.keys())
      const pending = await folder.pending()
      return pending.filter(({ signature }) => !before.has(signature) && !waiting.has(signature))
    },
  }
  return {
    store,
    async received(signature) {
      // After a restart the folder alone lists the payment.
      const payment =
        waiting.get(signature) ?? (await folder.pending()).find((pending) => pending.signature === signature)
      if (payment !== undefined) await folder.close(payment, 'answered')
      waiting.delete(signature)
    },
    release: (signature) => void waiting.delete(signature),
  }
}
