import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { SponsoredOffer } from './events/verificationEvents.ts'
import type { PaymentDecision, PaymentState } from './payment.ts'

export interface SubmitCommand {
  readonly wallet: Address
  readonly endpoint: string
  readonly quoteId: string | undefined
  readonly transactionBase64: string
  readonly offer?: SponsoredOffer
}

/**
 * Decides the submission of a transaction. Recorded before the transaction is sent, so that after a crash the ledger
 * contains money that may be in transit.
 */
export function decideSubmit(state: PaymentState, command: SubmitCommand): PaymentDecision | undefined {
  assert(command.transactionBase64 !== '', 'a submitted transaction has bytes')
  if (state.phase !== 'unknown') return undefined
  return { step: 'payment.submit', events: [{ kind: 'PaymentSubmitted', ...command }] }
}
