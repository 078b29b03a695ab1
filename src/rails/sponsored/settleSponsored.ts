import { Fault } from '@tollbook/core/fault'
import { assert } from '@tollbook/core/assert'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { Submitted } from '../../payment/payment.ts'
import { type MessageReference, messageDigestOf, transactionReference } from '../../payment/paymentReference.ts'
import type { SignedTransaction, Simulation } from '../../payment/proof.ts'
import type { PayerSigned } from '../../payment/sponsoredTransaction.ts'
import type { Settled, SettleQuestion } from '../../paywall/rail.ts'
import type { SolanaProof } from '../solana/solanaProof.ts'
import { settlePayment, type SettleDeps, type SettleLimits } from '../solana/settlePayment.ts'
import { type CoSignDeps, coSign, termsOwingBurn } from './coSign.ts'
import { type ListPriceDeps, priceOnRecord } from './priceOfList.ts'
import type { SponsoredProof } from './sponsoredProof.ts'

export interface SponsoredSettleDeps
  extends Omit<SettleDeps, 'choosePrice' | 'recallPrice' | 'ledger'>, Omit<CoSignDeps, 'chain' | 'ledger' | 'first'> {
  readonly ledger: SettleDeps['ledger'] & CoSignDeps['ledger']
  readonly findListed: ListPriceDeps['findListed']
  readonly dollar?: ListPriceDeps['dollar']
  readonly completeTransaction: (transaction: PayerSigned, signature: Signature) => SignedTransaction
}

type Question = SettleQuestion<SponsoredProof>

/** A recorded payment is settled by its recorded transaction and offer, whatever the current offers are. */
export async function settleSponsored(
  deps: SponsoredSettleDeps,
  limits: SettleLimits,
  question: Question,
): Promise<Settled> {
  const { payment, order } = question
  if (payment.phase === 'submitted') return settleRecorded(deps, limits, { ...question, payment })
  const signed = await coSign(deps, question)
  if (isRefusal(signed)) return { verdict: signed, payment }
  const { rehearsed, chosen, signature } = signed
  const transaction = deps.completeTransaction(question.proof.signed, signature)
  deps.first.note({ reference: transactionReference(signature), wallet: order.wallet })
  const { rail, reference: message } = question.proof
  const { dollar } = deps
  const offer = { rail, priceList: chosen.priceList, ...(dollar === undefined ? {} : { mint: dollar }) }
  const sponsorship = { message, offer }
  return settleSigned(
    {
      ...owing(deps),
      chain: rehearsed === undefined ? deps.chain : rehearsedChain(deps.chain, rehearsed),
      choosePrice: () => Promise.resolve(chosen),
    },
    limits,
    { ...question, message, proof: { ...proofOf(question, transaction), sponsorship } },
  )
}

function settleRecorded(
  deps: SponsoredSettleDeps,
  limits: SettleLimits,
  question: Question & { readonly payment: Submitted },
): Promise<Settled> {
  const { payment, proof } = question
  const { transactionBase64, endpoint, offer } = payment
  assert(offer !== undefined, 'a payment that is found by its message pays an offer')
  const transaction = deps.chain.readTransaction(Buffer.from(transactionBase64, 'base64'))
  assert(!isRefusal(transaction), 'a transaction on record was signed')
  return settleSigned(
    {
      ...owing(deps),
      choosePrice: () => priceOnRecord(deps, offer.priceList, endpoint),
    },
    limits,
    { ...question, message: proof.reference, proof: proofOf(question, transaction) },
  )
}

/**
 * Settles a transaction that the fee payer has signed, and reports a failed or absent payment to the signer. If the
 * report does not arrive, the signer counts the payment as failed after two minutes. The next refusal of this payment
 * then corrects the count.
 */
async function settleSigned(
  deps: SettleDeps & Pick<SponsoredSettleDeps, 'feePayer'>,
  limits: SettleLimits,
  question: SettleQuestion<SolanaProof> & { readonly message: MessageReference },
): Promise<Settled> {
  const settled = await settlePayment(deps, limits, question)
  const { verdict } = settled
  const outcome = isRefusal(verdict) ? outcomeOf(verdict) : undefined
  const digest = messageDigestOf(question.message)
  if (outcome === undefined || digest === undefined) return settled
  try {
    await deps.feePayer.recordOutcome(digest, outcome)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
  return settled
}

function outcomeOf({ code, reason }: Refusal): 'failed' | 'absent' | undefined {
  if (reason === 'blockhash_expired') return 'absent'
  return reason === 'transaction_failed' || code === 'INSUFFICIENT_BALANCE' ? 'failed' : undefined
}

function owing(deps: SponsoredSettleDeps) {
  return {
    ...deps,
    terms: termsOwingBurn(deps.terms),
    acceptedTerms: (landedAtMs: number) => (deps.acceptedTerms?.(landedAtMs) ?? []).map(termsOwingBurn),
  }
}

function proofOf({ proof: { secret, isPayer } }: Question, transaction: SignedTransaction) {
  const { signature } = transaction
  const proof = { reference: transactionReference(signature), signature, secret, transaction }
  return isPayer === undefined ? proof : { ...proof, isPayer }
}

/** Reuses the rehearsal from before the fee payer signed, because a signature does not change the effects. */
function rehearsedChain(chain: ChainReader, rehearsed: Simulation): ChainReader {
  return { ...chain, simulate: () => Promise.resolve(rehearsed) }
}
