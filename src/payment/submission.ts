import { assert } from '@tollbook/core/assert'
import type { PaymentSubmitted } from './events/verificationEvents.ts'
import type { PaymentDecision, PaymentState } from './payment.ts'

/**
 * Decides a submission. It is recorded before the transaction is sent, so that the ledger contains money in transit
 * even after a crash.
 */
export function decideSubmit(
  state: PaymentState,
  command: Omit<PaymentSubmitted, 'kind'>,
): PaymentDecision | undefined {
  assert(command.transactionBase64 !== '', 'a submitted transaction has bytes')
  if (state.phase !== 'unknown') return undefined
  return { step: 'payment.submit', events: [{ kind: 'PaymentSubmitted', ...command }] }
}
