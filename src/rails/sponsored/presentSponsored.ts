import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { assertNever } from '@tollbook/core/assert'
import { bindSecret } from '@tollbook/core/binding'
import type { Price } from '@tollbook/core/quote'
import type { Clock } from '@tollbook/core/clock'
import type { Signature } from '@tollbook/core/signature'
import { refuseAbsent } from '../../payment/absence.ts'
import type { ChainReader } from '../../payment/chainReader.ts'
import { solanaReference } from '../../payment/paymentReference.ts'
import type { SignedTransaction, SimulatedEffects, Simulation } from '../../payment/proof.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { SponsoredTransaction } from '../../payment/sponsoredTransaction.ts'
import type { Presented, ProofRequest } from '../../paywall/rail.ts'
import { landingNow } from '../solana/choosePrice.ts'
import { judgeEffects } from '../solana/submitTransaction.ts'
import type { FirstPresentations } from '../solana/firstPresentation.ts'
import type { SolanaProof } from '../solana/solanaProof.ts'
import type { FeePayer } from './feePayer.ts'
import { amountToSend, type PriceOfList } from './priceOfList.ts'

/** A transaction that payer and fee payer have signed, with the secret of its offer. */
export interface SponsoredProof extends SolanaProof {
  readonly transaction: SignedTransaction
  readonly priceList: number
  /** Present when it was rehearsed a moment ago, before the fee payer signed. */
  readonly rehearsed: Simulation | undefined
}

export interface PresentDeps {
  readonly clock: Clock
  readonly priceOfList: PriceOfList
  readonly chain: Pick<ChainReader, 'simulate' | 'find'>
  readonly first: Pick<FirstPresentations, 'record'>
  readonly terms: PaymentTerms
  readonly feePayer: FeePayer
  readonly completeTransaction: (transaction: SponsoredTransaction, signature: Signature) => SignedTransaction
}

/** A transaction of a payer, and the offer that it pays. */
export interface SponsoredPayment extends Pick<ProofRequest, 'limitLookups'> {
  readonly sponsored: SponsoredTransaction
  /** Secret of the offer; the memo of the transaction is its hash. */
  readonly secret: string
  readonly priceList: number
  readonly endpoint: string
  /** Refuses an offer that is not or no longer ours. Asked only before the fee payer signs: what it signed may be sent already. */
  readonly refuseOffer?: () => Refusal | undefined
}

/**
 * Completes a payment of which the payer's signature holds. The fee payer signs a transaction that it has not seen only after
 * everything was checked and rehearsed: its budget must not be open to payments that would pay nothing.
 */
export async function presentSponsored(
  deps: PresentDeps,
  payment: SponsoredPayment,
): Promise<Presented<SponsoredProof> | Refusal> {
  const { sponsored, secret, priceList } = payment
  const binding = bindSecret(sponsored.memo === undefined ? [] : [sponsored.memo], secret)
  if (isRefusal(binding)) return binding
  const known = await deps.feePayer.find(sponsored.digest)
  const signed = known === undefined ? await coSign(deps, payment) : { signature: known, rehearsed: undefined }
  if (isRefusal(signed)) return signed
  const { signature, rehearsed } = signed
  const transaction = deps.completeTransaction(sponsored, signature)
  const reference = solanaReference(signature)
  return { payer: sponsored.payer, proof: { reference, signature, secret, transaction, priceList, rehearsed } }
}

interface CoSigned {
  readonly signature: Signature
  readonly rehearsed: Simulation
}

async function coSign(deps: PresentDeps, payment: SponsoredPayment): Promise<CoSigned | Refusal> {
  const { sponsored, endpoint, priceList } = payment
  const stale = payment.refuseOffer?.()
  if (stale !== undefined) return stale
  const order = { wallet: sponsored.payer, endpoint, digest: '' }
  const question = { order, memo: sponsored.memo, ...landingNow(deps.clock) }
  const { price } = await deps.priceOfList(priceList, question)
  const required = amountToSend(deps.terms, price.requiredBaseUnits)
  if (sponsored.amountBaseUnits < required)
    return refuseProof(
      'transfer_insufficient',
      `transfers ${sponsored.amountBaseUnits}, required ${required} base units`,
    )
  const limited = payment.limitLookups()
  if (limited !== undefined) return limited
  const judge = (effects: SimulatedEffects) => judgePayment(deps.terms, { sponsored, price, effects })
  const accepts = (effects: SimulatedEffects) => judge(effects) === undefined
  const rehearsed = await deps.chain.simulate(sponsored, { withoutSignatures: true, accepts })
  if (rehearsed.outcome === 'unknown') return refuseUnrehearsed(deps, sponsored)
  const flaw = rehearsed.outcome === 'would_succeed' ? judge(rehearsed.effects) : judgeRehearsal(rehearsed)
  if (flaw !== undefined) return flaw
  const signature = await deps.feePayer.sign(sponsored)
  return isRefusal(signature) ? signature : { signature, rehearsed }
}

/**
 * The nodes do not know the blockhash: it is newer than they are, or has expired. The client repeats the request until no block
 * can take the transaction any more; without an end it would repeat it forever. Another instance may have had it signed meanwhile,
 * and then it is decided by that signature.
 */
async function refuseUnrehearsed(
  { first, chain, feePayer }: PresentDeps,
  { payer, payerSignature, digest }: SponsoredTransaction,
): Promise<Refusal> {
  const { bound } = await first.record({ reference: solanaReference(payerSignature), wallet: payer })
  const finding = await chain.find(payerSignature, { bound })
  const isOver = finding.kind === 'proven_absent' && (await feePayer.find(digest)) === undefined
  return isOver ? refuseAbsent(finding) : refuse('PAYMENT_PENDING', unknownBlockhash, 2)
}

type NotRehearsed = Exclude<Simulation, { readonly outcome: 'unknown' | 'would_succeed' }>

/** Nothing was signed, so nothing can have moved: a failure is a refusal, and the client may pay again. */
function judgeRehearsal(rehearsed: NotRehearsed): Refusal | undefined {
  switch (rehearsed.outcome) {
    case 'already_landed':
      return undefined
    case 'would_fail':
      if (/FeePayer|ForFee|AccountNotFound/.test(rehearsed.text))
        return refuse('ENDPOINT_UNAVAILABLE', 'the fee payer lacks SOL; pay on the native rail', 30)
      return rehearsed.insufficientFunds
        ? refuse('INSUFFICIENT_BALANCE', 'the wallet holds fewer tokens than the transfer needs; it was not sent')
        : refuseProof('simulation_failed', rehearsed.text)
    default:
      return assertNever(rehearsed)
  }
}

interface JudgedPayment {
  readonly sponsored: SponsoredTransaction
  readonly price: Price
  readonly effects: SimulatedEffects
}

/**
 * The rules by which it will be settled, before it costs the fee payer anything. A payment from an account of another wallet, of which the
 * payer is only a delegate, would move tokens and buy nothing.
 */
function judgePayment(terms: PaymentTerms, { sponsored, price, effects }: JudgedPayment): Refusal | undefined {
  const { payer, payerSignature, bytes } = sponsored
  const transaction = { signature: payerSignature, signers: [payer], bytes }
  return judgeEffects(owingBurn(terms), { effects, order: { wallet: payer }, transaction, price })
}

/** The payer sends the whole price, and the burn is owed. */
export function owingBurn(terms: PaymentTerms): PaymentTerms {
  return { ...terms, burnMayBeOwed: true }
}

const unknownBlockhash =
  'no node could rehearse the transaction in the newest state, so it was neither signed nor sent; repeat the same request'
