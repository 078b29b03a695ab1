import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { SponsoredOffer } from './events/verificationEvents.ts'
import type { PaymentDecision, PaymentState } from './payment.ts'

/** Recorded before the transaction is sent, so that a crash cannot lose track of it. */
export interface SubmitCommand {
  readonly wallet: Address
  readonly endpoint: string
  readonly quoteId: string | undefined
  readonly transactionBase64: string
  readonly offer?: SponsoredOffer
}

/** Recorded before the transaction is sent: if we die in between, the ledger knows of money that may be on its way. */
export function decideSubmit(state: PaymentState, command: SubmitCommand): PaymentDecision | undefined {
  assert(command.transactionBase64 !== '', 'a submitted transaction has bytes')
  if (state.phase !== 'unknown') return undefined
  return { step: 'payment.submit', events: [{ kind: 'PaymentSubmitted', ...command }] }
}
