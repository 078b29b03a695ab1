import { readBase64 } from '@tollbook/core/base64'
import type { Refusal } from '@tollbook/core/refusal'
import type { SponsoredTransaction, SponsorPolicy, SponsorProblem } from '../../payment/sponsoredTransaction.ts'
import type { ProofRequest } from '../../paywall/rail.ts'
import type { SponsoredPayment } from '../sponsored/presentSponsored.ts'
import type { X402ChallengeDeps } from './challenge.ts'
import { type PaymentPayload, readPayload } from './wire.ts'
import { refusePayload, refuseSponsor, refuseX402 } from './x402Refusal.ts'

export interface X402ReadDeps extends Pick<X402ChallengeDeps, 'feePayer' | 'terms' | 'network'> {
  readonly readSponsored: (bytes: Uint8Array, policy: SponsorPolicy) => SponsoredTransaction | SponsorProblem
}

/** The value of the payment header, in base64, and the endpoint whose price it should pay. */
export interface ReadQuestion extends Pick<ProofRequest, 'limitLookups'> {
  readonly header: string
  readonly endpoint: string
}

/** Reads PAYMENT-SIGNATURE: the echo of the offer, and the transaction that the payer has signed. */
export async function readPayment(
  deps: X402ReadDeps,
  { header, endpoint, limitLookups }: ReadQuestion,
): Promise<SponsoredPayment | Refusal> {
  const payload = readPayload(header)
  if (payload === undefined) return refusePayload('it cannot be read')
  const { accepted } = payload
  const bytes = readBase64(payload.payload.transaction)
  if (bytes === undefined) return refuseSponsor('malformed')
  const { address: feePayer } = await deps.feePayer.standing()
  const stale = findStale(deps, accepted, feePayer)
  if (stale !== undefined) return stale
  const { mint, paymentWallet } = deps.terms
  const sponsored = deps.readSponsored(bytes, { feePayer, mint, paymentWallet })
  if (typeof sponsored === 'string') return refuseSponsor(sponsored)
  const { secret, priceList } = accepted.extra
  return { sponsored, secret, priceList, endpoint, limitLookups }
}

/** The echo must be an offer of this service, as it is now. */
function findStale(
  { terms, network }: X402ReadDeps,
  accepted: PaymentPayload['accepted'],
  feePayer: string,
): Refusal | undefined {
  if (accepted.scheme !== 'exact') return refuseX402('invalid_exact_svm_unsupported_scheme', ...malformed('scheme'))
  if (accepted.network !== network) return refuseX402('invalid_exact_svm_network_mismatch', ...malformed('network'))
  if (accepted.asset !== terms.mint) return refuseX402('invalid_exact_svm_payload_mint_mismatch', ...malformed('asset'))
  if (accepted.payTo !== terms.paymentWallet)
    return refuseX402('invalid_exact_svm_payload_recipient_mismatch', ...malformed('payTo'))
  return accepted.extra.feePayer === feePayer
    ? undefined
    : refuseX402('invalid_exact_svm_fee_payer_not_managed_by_facilitator', ...malformed('extra.feePayer'))
}

function malformed(member: string) {
  return ['malformed_payload', `\`accepted.${member}\` is not that of the offer; request the price again`] as const
}
