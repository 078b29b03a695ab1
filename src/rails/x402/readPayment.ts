import { readAddress } from '@tollbook/core/address'
import { readBase64 } from '@tollbook/core/base64'
import type { Refusal } from '@tollbook/core/refusal'
import type { PayerSigned, SponsorProblem } from '../../payment/sponsoredTransaction.ts'
import type { Presented } from '../../paywall/rail.ts'
import { acceptedAt, type WalletDeps } from '../solana/acceptedTerms.ts'
import { presentSponsored, type SponsoredProof } from '../sponsored/sponsoredProof.ts'
import type { X402ChallengeDeps } from './challenge.ts'
import { type PaymentPayload, readPayload } from './wire.ts'
import { refusePayload, refuseSponsor, refuseX402 } from './x402Refusal.ts'

export interface X402ReadDeps extends Pick<X402ChallengeDeps, 'network' | 'dollars'>, WalletDeps {
  readonly nowMs: () => number
  readonly readPayerSigned: (bytes: Uint8Array) => PayerSigned | SponsorProblem
}

/** Reads PAYMENT-SIGNATURE: the repeated offer, and the transaction that the payer has signed. */
export function readPayment(deps: X402ReadDeps, header: string): Presented<SponsoredProof> | Refusal {
  const payload = readPayload(header)
  if (payload === undefined) return refusePayload('it cannot be read')
  const { accepted } = payload
  const bytes = readBase64(payload.payload.transaction)
  if (bytes === undefined) return refuseSponsor('malformed')
  const signed = deps.readPayerSigned(bytes)
  if (typeof signed === 'string') return refuseSponsor(signed)
  const { secret, priceList } = accepted.extra
  const rules = { refuseOffer: (feePayer: string) => findStale(deps, accepted, feePayer), refuseSponsor }
  return presentSponsored({ rail: 'x402', signed, secret, priceList, rules })
}

/**
 * Finds out whether the repeated offer differs from the service's current offer. Called only for payments that the fee
 * payer has not signed.
 */
function findStale(deps: X402ReadDeps, accepted: PaymentPayload['accepted'], feePayer: string): Refusal | undefined {
  if (accepted.scheme !== 'exact') return refuseX402('invalid_exact_svm_unsupported_scheme', ...malformed('scheme'))
  if (accepted.network !== deps.network)
    return refuseX402('invalid_exact_svm_network_mismatch', ...malformed('network'))
  if (accepted.asset !== deps.terms.mint && !isDollar(deps, accepted.asset))
    return refuseX402('invalid_exact_svm_payload_mint_mismatch', ...malformed('asset'))
  if (!acceptedAt(deps, deps.nowMs()).some(({ paymentWallet }) => paymentWallet === accepted.payTo))
    return refuseX402('invalid_exact_svm_payload_recipient_mismatch', ...malformed('payTo'))
  return accepted.extra.feePayer === feePayer
    ? undefined
    : refuseX402('invalid_exact_svm_fee_payer_not_managed_by_facilitator', ...malformed('extra.feePayer'))
}

function isDollar({ dollars }: X402ReadDeps, asset: string): boolean {
  const mint = readAddress(asset)
  return mint !== undefined && dollars?.termsOf(mint) !== undefined
}

function malformed(member: string) {
  return ['malformed_payload', `\`accepted.${member}\` is not that of the offer; request the price again`] as const
}
