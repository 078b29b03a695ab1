import type { Order, PaymentState } from '../payment/payment.ts'
import type { Proof } from '../payment/proof.ts'
import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'

/**
 * One way to pay: a header, how to read it, and how to find out what it proves. Another header or another transaction
 * layout is another rail beside this one; claim, handler and receipt see only the settlement.
 */
export interface PaymentRail {
  readonly header: string
  /** Costs no network and no database. */
  readProof(value: string): Proof | Refusal
  /** Asks the chain. Throws a retryable fault when the chain cannot say. */
  settle(question: SettleQuestion): Promise<Settlement | Refusal>
}

export interface SettleQuestion {
  readonly proof: Proof
  readonly order: Order
  /** What the book knows: `unknown`, or `submitted` when we have sent the transaction before. */
  readonly payment: PaymentState
}
