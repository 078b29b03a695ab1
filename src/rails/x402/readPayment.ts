import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { assertNever } from '@tollbook/core/assert'
import { readBase64 } from '@tollbook/core/base64'
import { bindSecret } from '@tollbook/core/binding'
import type { Clock } from '@tollbook/core/clock'
import type { Signature } from '@tollbook/core/signature'
import type { ChainReader } from '../../payment/chainReader.ts'
import { solanaReference } from '../../payment/paymentReference.ts'
import type { SignedTransaction, Simulation } from '../../payment/proof.ts'
import type { SponsoredTransaction, SponsorPolicy, SponsorProblem } from '../../payment/sponsoredTransaction.ts'
import type { Presented, ProofRequest } from '../../paywall/rail.ts'
import { landingNow } from '../native/choosePrice.ts'
import type { NativeProof } from '../native/readProof.ts'
import { amountOf, type ChallengeDeps } from './challenge.ts'
import { type ListPriceDeps, priceOfList } from './priceOfList.ts'
import { type PaymentPayload, readPayload } from './wire.ts'
import { refusePayload, refuseSponsor, refuseX402 } from './x402Refusal.ts'

/** A transaction that payer and fee payer have signed, with the secret of its offer. */
export interface X402Proof extends NativeProof {
  readonly transaction: SignedTransaction
  readonly priceList: number
  /** Present when it was rehearsed a moment ago, before the fee payer signed. */
  readonly rehearsed: Simulation | undefined
}

export interface ReadDeps extends ChallengeDeps, ListPriceDeps {
  readonly clock: Clock
  readonly chain: Pick<ChainReader, 'simulate'>
  readonly readSponsored: (bytes: Uint8Array, policy: SponsorPolicy) => SponsoredTransaction | SponsorProblem
  readonly completeTransaction: (transaction: SponsoredTransaction, signature: Signature) => SignedTransaction
}

interface Payment {
  readonly accepted: PaymentPayload['accepted']
  readonly sponsored: SponsoredTransaction
  readonly path: string
  readonly takeLookup: ReadQuestion['takeLookup']
}

export interface ReadQuestion extends Pick<ProofRequest, 'takeLookup'> {
  readonly header: string
  readonly path: string
}

/**
 * Reads PAYMENT-SIGNATURE. The fee payer signs a transaction that it has not seen only after everything was checked and
 * rehearsed: its budget must not be open to payments that would pay nothing.
 */
export async function readPayment(
  deps: ReadDeps,
  { header, path, takeLookup }: ReadQuestion,
): Promise<Presented<X402Proof> | Refusal> {
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
  const binding = bindSecret(sponsored.memo === undefined ? [] : [sponsored.memo], accepted.extra.secret)
  if (isRefusal(binding)) return binding

  const known = await deps.feePayer.find(sponsored.digest)
  const signed =
    known === undefined
      ? await coSign(deps, { accepted, sponsored, path, takeLookup })
      : { signature: known, rehearsed: undefined }
  if (isRefusal(signed)) return signed
  const { signature, rehearsed } = signed
  const transaction = deps.completeTransaction(sponsored, signature)
  const { secret, priceList } = accepted.extra
  const reference = solanaReference(signature)
  return { payer: sponsored.payer, proof: { reference, signature, secret, transaction, priceList, rehearsed } }
}

/** The echo must be an offer of this service, as it is now. */
function findStale({ terms, network }: ReadDeps, accepted: Payment['accepted'], feePayer: string): Refusal | undefined {
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

interface CoSigned {
  readonly signature: Signature
  readonly rehearsed: Simulation
}

async function coSign(deps: ReadDeps, payment: Payment): Promise<CoSigned | Refusal> {
  const { accepted, sponsored, path } = payment
  const order = { wallet: sponsored.payer, endpoint: path, digest: '' }
  const question = { order, memo: sponsored.memo, ...landingNow(deps.clock) }
  const { price } = await priceOfList(deps, accepted.extra.priceList, question)
  const required = amountOf(deps.terms, price.requiredBaseUnits)
  if (sponsored.amountBaseUnits < required)
    return refuseProof(
      'transfer_insufficient',
      `transfers ${sponsored.amountBaseUnits}, required ${required} base units`,
    )
  const limited = payment.takeLookup()
  if (limited !== undefined) return limited
  const rehearsed = await deps.chain.simulate(sponsored, { withoutSignatures: true })
  const flaw = judgeRehearsal(rehearsed)
  if (flaw !== undefined) return flaw
  const signature = await deps.feePayer.sign(sponsored)
  return isRefusal(signature) ? signature : { signature, rehearsed }
}

/** Nothing was signed, so nothing can have moved: a failure is a refusal, and the client may pay again. */
function judgeRehearsal(rehearsed: Simulation): Refusal | undefined {
  switch (rehearsed.outcome) {
    case 'would_succeed':
    case 'already_landed':
      return undefined
    case 'unknown':
      return refuse('PAYMENT_PENDING', unknownBlockhash, 2)
    case 'would_fail':
      if (/FeePayer|ForFee|AccountNotFound/.test(rehearsed.text))
        return refuse('ENDPOINT_UNAVAILABLE', 'the fee payer of x402 payments lacks SOL; pay on another rail', 30)
      return rehearsed.insufficientFunds
        ? refuse('INSUFFICIENT_BALANCE', 'the wallet holds fewer tokens than the transfer needs; it was not sent')
        : refuseProof('simulation_failed', rehearsed.text)
    default:
      return assertNever(rehearsed)
  }
}

const unknownBlockhash =
  'no node could rehearse the transaction in the newest state, so it was neither signed nor sent; repeat the same request'
