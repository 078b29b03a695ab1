import { Fault } from '@tollbook/core/fault'
import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { type LandingBound, refuseAbsent } from '../../payment/absence.ts'
import type { FindOptions, Finding, Found, Unknown } from '../../payment/chainReader.ts'
import { settleByAnyTerms, type Settlement } from '../../payment/settlement.ts'
import type { SignedTransaction } from '../../payment/proof.ts'
import type { TransactionRecord } from '../../payment/transactionRecord.ts'
import { acceptedAt } from './acceptedTerms.ts'
import { bindHolder } from './checkSecret.ts'
import { findShortage, refuseShortage, wasShortBefore } from './checkBalance.ts'
import type { FirstPresentations } from './firstPresentation.ts'
import type { Settled, SettleQuestion } from '../../paywall/rail.ts'
import type { SolanaProof } from './solanaProof.ts'
import { checkAccounts, isUnseen, type SubmitDeps, type SubmitOutcome, submitTransaction } from './submitTransaction.ts'

export interface SettleDeps extends SubmitDeps {
  readonly first: FirstPresentations
}

export interface SettleLimits {
  /** Time to wait for a signature that is not on chain yet, in milliseconds. */
  readonly proofLookupWaitMs: number
  /** Time to wait for a transaction that the service has sent, in milliseconds. */
  readonly broadcastWaitMs: number
  /** Maximum time from the landing of a payment to its first presentation, in milliseconds. */
  readonly proofMaxAgeMs: number
  /**
   * Price in millionths of a US dollar above which two nodes must return the same record. Undefined: one node is enough
   * for every price.
   */
  readonly quorumAboveMicroUsd?: bigint | undefined
}

type Question = SettleQuestion<SolanaProof>
type TransactionQuestion = Question & { readonly transaction: SignedTransaction }
type FoundQuestion = Question & { readonly found: Found }
/** A settlement question with one record of the transaction, which may come from a single node. */
type LandedQuestion = Question & { readonly record: TransactionRecord }
type UnseenQuestion = Question & { readonly unseen: Unknown }
type Verdict = Settlement | Refusal

export async function settlePayment(deps: SettleDeps, limits: SettleLimits, question: Question): Promise<Settled> {
  const { proof, order, payment } = question
  const { transaction } = proof
  const flaw = transaction && checkAccounts(deps.terms, transaction, order)
  if (flaw !== undefined) return { verdict: flaw, payment }
  try {
    if (transaction === undefined) return { verdict: await settleSignature(deps, limits, question), payment }
    return await settleTransaction(deps, limits, { ...question, transaction })
  } catch (error) {
    // Record the presentation, so that the proof still counts as presented in time after an outage.
    if (error instanceof Fault) await deps.first.recordIfPossible({ reference: proof.reference, wallet: order.wallet })
    throw error
  }
}

/** Settles a proof that contains only a signature. Its caller thereby states that the transaction is already sent. */
async function settleSignature(deps: SettleDeps, limits: SettleLimits, question: Question): Promise<Verdict> {
  const { proof, order } = question
  const finding = await find(deps, question, { waitMs: limits.proofLookupWaitMs })
  if (finding.kind === 'found') return judgeFound(deps, limits, { ...question, found: finding })
  await deps.first.record({ reference: proof.reference, wallet: order.wallet })
  return finding.kind === 'unknown'
    ? judgeUnseen(deps, limits, { ...question, unseen: finding })
    : refuseProof('not_found')
}

/**
 * Judges a payment that no node has found. The refusal states a shortage only if the wallet cannot pay. The payment
 * must first be searched again in a later state than that of the balance, because the payment itself may have emptied
 * the wallet. A caller who reads that the wallet has not paid could pay again (I8).
 */
async function judgeUnseen(deps: SettleDeps, limits: SettleLimits, question: UnseenQuestion): Promise<Verdict> {
  if (question.unseen.isSeen) return refuseProof('not_found')
  const shortage = await findShortage(deps, question.order)
  if (shortage === undefined) return refuseProof('not_found')
  if (isRefusal(shortage)) return shortage
  if (!(await wasShortBefore(deps, question.order.wallet, shortage))) return refuseProof('not_found')
  const minSlot = shortage.slot + 1
  const again = await find(deps, question, { minSlot })
  if (again.kind === 'found') return judgeFound(deps, limits, { ...question, found: again })
  const isAbsent = again.kind === 'unknown' && !again.isSeen && again.isAgreed && again.slot >= minSlot
  return isAbsent ? refuseShortage(shortage) : refuseProof('not_found')
}

async function settleTransaction(
  deps: SettleDeps,
  limits: SettleLimits,
  question: TransactionQuestion,
): Promise<Settled> {
  const { payment } = question
  const submitted = await (payment.phase === 'submitted' ? sendAgain : submitTransaction)(deps, question)
  if (isRefusal(submitted)) return { verdict: submitted, payment }
  const verdict = await settleSubmitted(deps, limits, { ...question, submitted })
  return { verdict, payment: submitted.payment }
}

/** `question.payment` is the state from before the submission. */
async function settleSubmitted(
  deps: SettleDeps,
  limits: SettleLimits,
  question: TransactionQuestion & { readonly submitted: SubmitOutcome },
): Promise<Verdict> {
  const { proof, order, transaction, submitted } = question
  const { isSent } = submitted
  const finding = await find(deps, question, { waitMs: isSent ? limits.broadcastWaitMs : 0, isSent })
  if (finding.kind === 'found') return judgeFound(deps, limits, { ...question, found: finding })

  // Record the presentation only after a search without a result. A decided proof needs no record.
  const { bound } = await deps.first.record({ reference: proof.reference, wallet: order.wallet })
  // A transaction with a durable nonce never expires, so no block height can prove its absence.
  const options = transaction.usesDurableNonce ? {} : { bound: lower(bound, submitted.bound) }
  const last = await find(deps, question, options)
  if (last.kind === 'found') return judgeFound(deps, limits, { ...question, found: last })
  return last.kind === 'proven_absent' ? refuseAbsent(last) : refusePending(last, isSent)
}

/** Sends a recorded transaction again, unless a node has it or no block can include it any more. */
async function sendAgain(deps: SettleDeps, question: TransactionQuestion): Promise<SubmitOutcome | Refusal> {
  const { proof, order, payment, transaction } = question
  const first = await deps.first.find({ reference: proof.reference, wallet: order.wallet })
  const finding = await find(deps, question, { bound: first?.bound })
  if (finding.kind === 'proven_absent') return refuseAbsent(finding)
  if (isUnseen(finding)) await deps.chain.broadcast(transaction)
  return { isSent: true, payment, bound: first?.bound }
}

function lower(one: LandingBound, other: LandingBound | undefined): LandingBound {
  return other !== undefined && other.lastValidHeight < one.lastValidHeight ? other : one
}

function refusePending({ why }: Unknown, isSent: boolean): Refusal {
  const state = isSent
    ? 'was sent and has not been confirmed'
    : 'could not be rehearsed in the newest state and is not on chain'
  return refuse(
    'PAYMENT_PENDING',
    `the transaction ${state} yet (${why}); repeat with the same proof, never with another`,
    2,
  )
}

function find({ chain }: SettleDeps, { proof }: Question, options: FindOptions): Promise<Finding> {
  return chain.find(proof.signature, options)
}

/**
 * Decides on a transaction that is on chain. For a large payment, two nodes must agree, because one node could return a
 * false record. Every refusal also needs agreement, because a refused payer may pay again.
 */
async function judgeFound(deps: SettleDeps, limits: SettleLimits, question: FoundQuestion): Promise<Verdict> {
  const { record, isAgreed } = question.found
  const verdict = await judgeShown(deps, limits, { ...question, record })
  if (!isAgreed && needsAgreement(limits, verdict)) {
    const agreed = await find(deps, question, { isAgreed: true })
    // Judge the agreed record again, because it may differ from the record of the first node.
    return agreed.kind === 'found' ? judgeFound(deps, limits, { ...question, found: agreed }) : refuseUnconfirmed()
  }
  if (!isRefusal(verdict) || record.failure === undefined || verdict.reason === 'wallet_did_not_sign') return verdict
  return judgeFinal(deps, limits, question)
}

function needsAgreement({ quorumAboveMicroUsd }: SettleLimits, verdict: Verdict): boolean {
  if (isRefusal(verdict)) return true
  return quorumAboveMicroUsd !== undefined && verdict.price.priceMicroUsd > quorumAboveMicroUsd
}

function refuseUnconfirmed(): Refusal {
  return refuse('PAYMENT_PENDING', 'a second node has to confirm this payment; repeat with the same proof', 2)
}

async function judgeShown(deps: SettleDeps, limits: SettleLimits, question: LandedQuestion): Promise<Verdict> {
  const { proof, order, record } = question
  const { blockTimeMs } = record
  if (blockTimeMs === undefined)
    throw new Fault('the node does not know the time of the block yet', { retryable: true })

  const binding = bindHolder(record.memos, proof)
  if (isRefusal(binding)) return binding
  const late = await judgeAge(deps, limits, { ...question, blockTimeMs })
  if (late !== undefined) return late
  const chosen = await deps.choosePrice({
    order,
    memo: binding.memo,
    landedAtMs: blockTimeMs,
    landedSlot: record.slot,
  })
  if (isRefusal(chosen)) return chosen

  const amounts = settleByAnyTerms({ record, wallet: order.wallet, price: chosen.price }, acceptedAt(deps, blockTimeMs))
  if (isRefusal(amounts)) return amounts
  deps.knownPayers?.paid(order.wallet, record)
  const transactionBase64 = record.bytes === undefined ? undefined : Buffer.from(record.bytes).toString('base64')
  return {
    reference: proof.reference,
    wallet: order.wallet,
    price: chosen.price,
    priceList: chosen.priceList,
    quoteId: chosen.quoteId,
    memo: binding.memo,
    ...amounts,
    evidence: { kind: 'solana', slot: record.slot, blockTimeMs, transactionBase64 },
  }
}

/**
 * Refuses a payment that was too old at its first presentation. Uses the time of the chain, so that a wrong clock of
 * the service does not make a payment too old.
 */
async function judgeAge(
  deps: SettleDeps,
  { proofMaxAgeMs }: SettleLimits,
  { proof, order, payment, blockTimeMs }: Question & { readonly blockTimeMs: number },
): Promise<Refusal | undefined> {
  // The payment was presented in time, because the service itself has sent it.
  if (payment.phase === 'submitted') return undefined
  const nowMs = deps.chain.timeMs()
  if (nowMs - blockTimeMs <= proofMaxAgeMs) return undefined
  const first = await deps.first.find({ reference: proof.reference, wallet: order.wallet })
  const ageMs = Math.min(nowMs, first?.presentedAtMs ?? nowMs) - blockTimeMs
  if (ageMs <= proofMaxAgeMs) return undefined
  return refuseProof('too_old', `landed ${Math.floor(ageMs / 1000)} s before its first presentation`)
}

/**
 * Confirms a failure on the finalized chain. A failure tells the payer to make a new payment, so it must be final
 * first.
 */
async function judgeFinal(deps: SettleDeps, limits: SettleLimits, question: Question): Promise<Verdict> {
  const final = await find(deps, question, { commitment: 'finalized', isAgreed: true })
  if (final.kind === 'found') return judgeShown(deps, limits, { ...question, record: final.record })
  return refuse(
    'PAYMENT_PENDING',
    'the transaction failed in a block that is not final yet; repeat with the same proof, and do not pay again before',
    5,
  )
}
