import type { Address } from '@tollbook/core/address'
import { bindSecret } from '@tollbook/core/binding'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import { type MessageReference, messageReference } from '../../payment/paymentReference.ts'
import type { PayerSigned, SponsorProblem } from '../../payment/sponsoredTransaction.ts'
import type { Presented, Proof } from '../../paywall/rail.ts'

/** A transaction that its payer has signed, and the offer that it pays. Nothing of it depends on what is offered now. */
export interface SponsoredProof extends Proof {
  readonly reference: MessageReference
  readonly signed: PayerSigned
  /** Secret of the offer; the memo of the transaction is its hash. */
  readonly secret: string
  /** The payer has signed for the same order again, so the secret of the earlier offer is not asked for. */
  readonly isPayer?: true
  readonly rail: string
  readonly priceList: number
  readonly rules: OfferRules
}

/** A rail's rules for payments that the fee payer has not signed yet. One that it has signed may be sent already. */
export interface OfferRules {
  /** Refuses an offer that is not or no longer ours. */
  readonly refuseOffer: (feePayer: Address) => Refusal | undefined
  readonly refuseSponsor: (problem: SponsorProblem) => Refusal
}

/** The secret must be the one behind the memo: a payment that was seen on chain is useless without it. */
export function presentSponsored(proof: Omit<SponsoredProof, 'reference'>): Presented<SponsoredProof> | Refusal {
  const { signed, secret } = proof
  const binding = bindSecret(signed.memo === undefined ? [] : [signed.memo], secret)
  if (isRefusal(binding)) return binding
  return { payer: signed.payer, proof: { ...proof, reference: messageReference(signed.digest) } }
}
