import type { Address } from '@tollbook/core/address'
import { bindSecret } from '@tollbook/core/binding'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import { type MessageReference, messageReference } from '../../payment/paymentReference.ts'
import type { PayerSigned, SponsorProblem } from '../../payment/sponsoredTransaction.ts'
import type { Presented, Proof } from '../../paywall/rail.ts'

/** The proof contains its offer, so a change of the current offers does not change the proof. */
export interface SponsoredProof extends Proof {
  readonly reference: MessageReference
  readonly signed: PayerSigned
  /** Secret of the offer. Its hash is the memo of the transaction. */
  readonly secret: string
  /** Present if the payer has signed for the same order again, so that the secret of the earlier offer is not required. */
  readonly isPayer?: true
  readonly rail: string
  readonly priceList: number
  readonly rules: OfferRules
}

/**
 * A rail's rules for payments that the fee payer has not signed yet. They do not apply after the fee payer has signed,
 * because the payment may already be sent then.
 */
export interface OfferRules {
  readonly refuseOffer: (feePayer: Address) => Refusal | undefined
  readonly refuseSponsor: (problem: SponsorProblem) => Refusal
}

/**
 * Creates the proof if the secret matches the memo. Without the secret, a stranger cannot use a payment that is visible
 * on chain.
 */
export function presentSponsored(proof: Omit<SponsoredProof, 'reference'>): Presented<SponsoredProof> | Refusal {
  const { signed, secret } = proof
  const binding = bindSecret(signed.memo === undefined ? [] : [signed.memo], secret)
  if (isRefusal(binding)) return binding
  return { payer: signed.payer, proof: { ...proof, reference: messageReference(signed.digest) } }
}
