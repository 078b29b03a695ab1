import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { PaymentEvent, ReversalReason } from './events.ts'
import type { PaymentState } from './payment.ts'
import { transferBaseUnits } from '@tollbook/core/quote'

/*
 * What happens to a payment after its answer, decided on its state as the commands of `payment.ts` are. Undefined: not in
 * this state. Nothing here touches a payment in the middle of a claim, so no delivery is ever lost to it.
 */

/** What the finalized chain says of a payment. */
export type FinalVerdict =
  | { readonly kind: 'finalized'; readonly slot: number }
  | { readonly kind: 'reversed'; readonly reason: ReversalReason; readonly finalizedSlot: number }

export function decideFinality(state: PaymentState, verdict: FinalVerdict): readonly PaymentEvent[] | undefined {
  if (state.phase !== 'verified' && state.phase !== 'released' && state.phase !== 'fulfilled') return undefined
  if (!state.awaitsFinality) return undefined
  if (verdict.kind === 'finalized') return [{ kind: 'PaymentFinalized', slot: verdict.slot }]
  const { wallet, price, burnedBaseUnits, receivedBaseUnits } = state.settlement
  const owedBaseUnits = transferBaseUnits(price)
  const isServed = state.phase === 'fulfilled'
  return [
    {
      kind: 'PaymentReversed',
      reason: verdict.reason,
      finalizedSlot: verdict.finalizedSlot,
      wallet,
      mint: price.mint,
      endpoint: price.endpoint,
      unearnedBaseUnits: isServed ? 0n : owedBaseUnits,
      lostBaseUnits: isServed ? owedBaseUnits : 0n,
      overpaidBaseUnits: receivedBaseUnits - owedBaseUnits,
      burnedBaseUnits,
    },
  ]
}

/** Ends a claim whose process died and that nobody took over. */
export function decideExpiry(state: PaymentState, nowMs: number): readonly PaymentEvent[] | undefined {
  if (state.phase !== 'claimed' || nowMs < state.leaseUntilMs) return undefined
  return [{ kind: 'RequestFailed', attempt: state.attempt, attemptId: state.attemptId, reason: 'lease_expired' }]
}

/** Only what can no longer be dropped is owed back. */
export function decideRefund(state: PaymentState): readonly PaymentEvent[] | undefined {
  if ((state.phase !== 'verified' && state.phase !== 'released') || state.awaitsFinality) return undefined
  const { wallet, price } = state.settlement
  return [{ kind: 'RefundDue', wallet, mint: price.mint, refundBaseUnits: transferBaseUnits(price) }]
}

export interface ReceivedTransfer {
  readonly wallet: Address | undefined
  readonly mint: Address
  readonly receivedBaseUnits: bigint
  readonly slot: number
}

/** Tokens that no settlement of the book accounts for; those of a reversed payment count as never arrived. */
export function decideUnmatched(state: PaymentState, transfer: ReceivedTransfer): readonly PaymentEvent[] | undefined {
  assert(transfer.receivedBaseUnits > 0n, 'what is received is something')
  if (state.phase !== 'unknown' && state.phase !== 'submitted' && state.phase !== 'reversed') return undefined
  return [{ kind: 'TransferReceived', ...transfer }]
}
