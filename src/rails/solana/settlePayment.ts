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
import type { SettleQuestion } from '../../paywall/rail.ts'
import type { SolanaProof } from './solanaProof.ts'
import { checkAccounts, isUnseen, type SubmitDeps, type Submitted, submitTransaction } from './submitTransaction.ts'

export interface SettleDeps extends SubmitDeps {
  readonly first: FirstPresentations
}

/** The operator's limits on a settlement. */
export interface SettleLimits {
  /** Time to wait for a signature that is not on chain yet. */
  readonly proofLookupWaitMs: number
  /** A payment is presented for the first time within this time of landing. */
  readonly proofMaxAgeMs: number
  /** Above this price two nodes have to return the same record. Undefined: one node is enough. */
  readonly quorumAboveMicroUsd?: bigint | undefined
}

type Question = SettleQuestion<SolanaProof>
type TransactionQuestion = Question & { readonly transaction: SignedTransaction }
/** A question about a transaction that is on chain. */
type FoundQuestion = Question & { readonly found: Found }
/** The same, as one record shows it. */
type LandedQuestion = Question & { readonly record: TransactionRecord }
/** A question about a transaction that no node has found. */
type UnseenQuestion = Question & { readonly unseen: Unknown }
type Verdict = Settlement | Refusal

/** Finds out what a proof proves: on chain already, sent by us, or to be sent now. */
export async function settlePayment(deps: SettleDeps, limits: SettleLimits, question: Question): Promise<Verdict> {
  const { proof, order } = question
  const flaw = proof.transaction === undefined ? undefined : checkAccounts(deps.terms, proof.transaction, order)
  if (flaw !== undefined) return flaw
  try {
    return await (proof.transaction === undefined
      ? settleSignature(deps, limits, question)
      : settleTransaction(deps, limits, { ...question, transaction: proof.transaction }))
  } catch (error) {
    // The proof was presented in time, however long the outage lasts.
    if (error instanceof Fault) await deps.first.recordIfPossible({ reference: proof.reference, wallet: order.wallet })
    throw error
  }
}

/** A signature alone: the caller has sent the transaction, or says so. */
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
 * The payment is not on chain. A wallet that cannot pay is refused for that, but only when the payment was looked for in
 * the state that shows the empty wallet: a payment that landed since has emptied it, and a caller who reads that the
 * wallet has not paid would pay again (I8).
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

// Time to wait for a transaction that this service has sent. A slot takes 0.4 s and a confirmation a few slots.
const broadcastWaitMs = 10_000

/** The transaction itself: on chain already, sent by us before, or to be sent now. */
async function settleTransaction(
  deps: SettleDeps,
  limits: SettleLimits,
  question: TransactionQuestion,
): Promise<Verdict> {
  const { proof, order, payment, transaction } = question
  const submission = await (payment.phase === 'submitted' ? sendAgain : submitTransaction)(deps, question)
  if (isRefusal(submission)) return submission
  const { isSent } = submission
  const finding = await find(deps, question, { waitMs: isSent ? broadcastWaitMs : 0, isSent })
  if (finding.kind === 'found') return judgeFound(deps, limits, { ...question, found: finding })

  // It was looked for and was not there. Only now, whether it can still land.
  const { bound } = await deps.first.record({ reference: proof.reference, wallet: order.wallet })
  // A transaction with a durable nonce never expires, so no block height proves its absence.
  const options = transaction.usesDurableNonce ? {} : { bound: lower(bound, submission.bound) }
  const last = await find(deps, question, options)
  if (last.kind === 'found') return judgeFound(deps, limits, { ...question, found: last })
  return last.kind === 'proven_absent' ? refuseAbsent(last) : refusePending(last, isSent)
}

/**
 * Sends a transaction on record again, unless a node has it or no block can take it any more. Asked before anything is
 * awaited: each further order of the wallet asks about its earlier payments.
 */
async function sendAgain(deps: SettleDeps, question: TransactionQuestion): Promise<Submitted | Refusal> {
  const { proof, order, transaction } = question
  const first = await deps.first.find({ reference: proof.reference, wallet: order.wallet })
  const finding = await find(deps, question, { bound: first?.bound })
  if (finding.kind === 'proven_absent') return refuseAbsent(finding)
  if (isUnseen(finding)) await deps.chain.broadcast(transaction)
  return { isSent: true, bound: first?.bound }
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
 * The verdict on a transaction that is on chain. One lying node must not decide about a large payment, and not against any:
 * a payer who reads a refusal pays again.
 */
async function judgeFound(deps: SettleDeps, limits: SettleLimits, question: FoundQuestion): Promise<Verdict> {
  const { record, isAgreed } = question.found
  const verdict = await judgeShown(deps, limits, { ...question, record })
  if (!isAgreed && needsAgreement(limits, verdict)) {
    const agreed = await find(deps, question, { isAgreed: true })
    // The record that two nodes agree on may differ from the one that the first of them showed.
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

/** Is the transaction, as a node shows it, this caller's, is it fresh, which price does it have to meet, and does it meet it? */
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

/** Age counts up to the first presentation, in time of the chain: no outage and no clock of ours makes a payment too old. */
async function judgeAge(
  deps: SettleDeps,
  { proofMaxAgeMs }: SettleLimits,
  { proof, order, payment, blockTimeMs }: Question & { readonly blockTimeMs: number },
): Promise<Refusal | undefined> {
  // A payment that this service has sent was presented in time, as the ledger shows.
  if (payment.phase === 'submitted') return undefined
  const nowMs = deps.chain.timeMs()
  if (nowMs - blockTimeMs <= proofMaxAgeMs) return undefined
  const first = await deps.first.find({ reference: proof.reference, wallet: order.wallet })
  const ageMs = Math.min(nowMs, first?.presentedAtMs ?? nowMs) - blockTimeMs
  if (ageMs <= proofMaxAgeMs) return undefined
  return refuseProof('too_old', `landed ${Math.floor(ageMs / 1000)} s before its first presentation`)
}

/** A failure tells the payer to make a new payment, so the chain must not be able to take it back. */
async function judgeFinal(deps: SettleDeps, limits: SettleLimits, question: Question): Promise<Verdict> {
  const final = await find(deps, question, { commitment: 'finalized', isAgreed: true })
  if (final.kind === 'found') return judgeShown(deps, limits, { ...question, record: final.record })
  return refuse(
    'PAYMENT_PENDING',
    'the transaction failed in a block that is not final yet; repeat with the same proof, and do not pay again before',
    5,
  )
}
