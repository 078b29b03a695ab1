import type { Signature } from '@tollbook/core/signature'
import type { SponsoredOffer } from '../../payment/events/verificationEvents.ts'
import type { MessageReference, PaymentReference } from '../../payment/paymentReference.ts'
import type { SignedTransaction } from '../../payment/proof.ts'
import type { Proof } from '../../paywall/rail.ts'

/** A payment on Solana. Every form of it has a signature, which is its reference. */
export interface SolanaProof extends Proof {
  readonly reference: PaymentReference
  readonly signature: Signature
  /** Present in the bound forms: it opens the memo of a quote. */
  readonly secret: string | undefined
  /** The payer has proven its wallet by another signature, so no secret is asked for. */
  readonly isPayer?: true
  /** Present when this service pays the network fee. */
  readonly sponsorship?: Sponsorship
  /** Present in the transaction forms: not sent yet, as far as we know. */
  readonly transaction: SignedTransaction | undefined
}

/** The message by which the payment is found, and the offer that it pays. Recorded before the transaction is sent. */
export interface Sponsorship {
  readonly message: MessageReference
  readonly offer: SponsoredOffer
}
