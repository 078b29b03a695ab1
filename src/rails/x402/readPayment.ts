import { type Address, readAddress } from '@tollbook/core/address'
import { readBase64 } from '@tollbook/core/base64'
import type { Refusal } from '@tollbook/core/refusal'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { PayerSigned, SponsorProblem } from '../../payment/sponsoredTransaction.ts'
import type { Presented } from '../../paywall/rail.ts'
import { acceptedAt, type WalletDeps } from '../solana/acceptedTerms.ts'
import { presentSponsored, type SponsoredProof } from '../sponsored/sponsoredProof.ts'
import type { X402ChallengeDeps } from './challenge.ts'
import { type PaymentPayload, readPayload } from './wire.ts'
import { refusePayload, refuseSponsor, refuseX402 } from './x402Refusal.ts'

export interface X402ReadDeps extends Pick<X402ChallengeDeps, 'network' | 'dollars'>, Pick<WalletDeps, 'terms'> {
  readonly acceptedTerms?: (landedAtMs: number, mint?: Address) => readonly PaymentTerms[]
  readonly nowMs: () => number
  readonly readPayerSigned: (bytes: Uint8Array) => PayerSigned | SponsorProblem
}

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
 * Refuses an offer that this service does not accept now. Called only for payments that the fee payer has not signed,
 * because others may already be sent.
 */
function findStale(deps: X402ReadDeps, accepted: PaymentPayload['accepted'], feePayer: string): Refusal | undefined {
  if (accepted.scheme !== 'exact') return refuseX402('invalid_exact_svm_unsupported_scheme', ...malformed('scheme'))
  if (accepted.network !== deps.network)
    return refuseX402('invalid_exact_svm_network_mismatch', ...malformed('network'))
  const terms = termsOf(deps, accepted.asset)
  if (terms === undefined) return refuseX402('invalid_exact_svm_payload_mint_mismatch', ...malformed('asset'))
  const acceptedTerms = (landedAtMs: number) => deps.acceptedTerms?.(landedAtMs, terms.mint) ?? []
  if (!acceptedAt({ terms, acceptedTerms }, deps.nowMs()).some(({ paymentWallet }) => paymentWallet === accepted.payTo))
    return refuseX402('invalid_exact_svm_payload_recipient_mismatch', ...malformed('payTo'))
  return accepted.extra.feePayer === feePayer
    ? undefined
    : refuseX402('invalid_exact_svm_fee_payer_not_managed_by_facilitator', ...malformed('extra.feePayer'))
}

function termsOf({ terms, dollars }: X402ReadDeps, asset: string): PaymentTerms | undefined {
  const mint = readAddress(asset)
  if (mint === terms.mint) return terms
  return mint === undefined ? undefined : dollars?.termsOf(mint)
}

function malformed(member: string) {
  return ['malformed_payload', `\`accepted.${member}\` is not that of the offer; request the price again`] as const
}
