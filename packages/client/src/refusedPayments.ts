import type { Reservation } from './budget.ts'
import { fateOf } from './landTransaction.ts'
import type { PayerChain } from './payerChain.ts'
import type { OpenPayments } from './openPayments.ts'
import type { PaymentStore } from './paymentStore.ts'
import type { PendingPayment } from './pendingPayment.ts'

export type RefusedPayments = ReturnType<typeof createRefusedPayments>

interface RefusedDeps {
  readonly chain: PayerChain
  readonly open: OpenPayments
  readonly store: PaymentStore | undefined
}

// Check only the newest payments, because older ones were checked when they were new.
const checkedMax = 20

/**
 * Tracks payments that a service refused after they were signed, including those of other processes in the store. The
 * service could still send such a transaction. So its amount counts against the limits until the chain proves that it
 * cannot land.
 */
export function createRefusedPayments({ chain, open, store }: RefusedDeps) {
  const held = new Map<string, Reservation>()
  const own = new Map<string, PendingPayment>()
  const landed = new Set<string>()
  const giveBack = async (): Promise<boolean> => {
    const stored = (await store?.refused?.()) ?? []
    const refused = new Map([...stored.map((payment) => [payment.signature, payment] as const), ...own])
    // Skip payments of other protocols, because only the service has the fee payer's signature, by which the
    // transaction could be found on chain.
    const open = [...refused.values()]
      .filter(({ signature, protocol }) => protocol === undefined && !landed.has(signature))
      .toSorted((one, other) => (one.signedAtMs ?? 0) - (other.signedAtMs ?? 0))
    const returned = await Promise.all(open.slice(-checkedMax).map(settle))
    return returned.includes(true)
  }
  const settle = async (payment: PendingPayment) => {
    const { signature } = payment
    const fate = await fateOf(chain, payment)
    if (fate === 'landed') landed.add(signature)
    if (fate !== 'never') return false
    await open.close(payment, 'not_sent')
    own.delete(signature)
    held.get(signature)?.release()
    return held.delete(signature) || store !== undefined
  }
  return {
    /** The reservation is released if the payment is refused and can no longer land. */
    hold: (signature: string, reservation: Reservation) => void held.set(signature, reservation),
    async add(payment: PendingPayment) {
      await open.close(payment, 'refused')
      own.set(payment.signature, payment)
      // Ignore a folder that cannot be read: the caller must get the refusal. The next check of a limit tries again.
      await giveBack().catch(() => false)
    },
    /** Releases the amounts of refused payments that can no longer land. Returns true if it released any. */
    giveBack,
  }
}
