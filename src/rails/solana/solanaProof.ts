import type { Signature } from '@tollbook/core/signature'
import type { SponsoredOffer } from '../../payment/events/verificationEvents.ts'
import type { MessageReference, PaymentReference } from '../../payment/paymentReference.ts'
import type { SignedTransaction } from '../../payment/proof.ts'
import type { Proof } from '../../paywall/rail.ts'

/** Proof of a payment on Solana. Every form contains a signature, which is the reference of the payment. */
export interface SolanaProof extends Proof {
  readonly reference: PaymentReference
  readonly signature: Signature
  /** The secret whose hash is the memo. Present in the bound forms. */
  readonly secret: string | undefined
  /** Present if another signature has proven that the caller owns the payer's wallet, so that no secret is required. */
  readonly isPayer?: true
  /** Present if this service pays the network fee. */
  readonly sponsorship?: Sponsorship
  /** The signed transaction, which may not be sent yet. Present in the transaction forms. */
  readonly transaction: SignedTransaction | undefined
}

/** The message that identifies the payment, and the offer that it pays. Recorded before the transaction is sent. */
export interface Sponsorship {
  readonly message: MessageReference
  readonly offer: SponsoredOffer
}
