import { assert, assertNever, Bug } from '@tollbook/core/assert'
import type {
  AnswerBroken,
  AnswerStarted,
  FailureReason,
  ProofClaimed,
  RequestFailed,
  Usage,
} from './events/attemptEvents.ts'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import type { TabDeposit } from '@tollbook/core/tab'
import type { PaymentEvent } from './events.ts'
import type { LiveAttempt, Order, PaymentDecision, PaymentState, Verified } from './payment.ts'
import { inProgressRetryMaxSeconds, mayUse, refuseInProgress } from './paymentUse.ts'
import { refundEvent } from './refund.ts'
import { isBound, isPaidWhole, type Settlement } from './settlement.ts'
import { type Charge, decideCapture, decideDebit, promisedBurnOf, returnedBy } from './tabDebit.ts'
import { isDebit, isDepositPrice } from './tabSettlement.ts'

export interface ClaimCommand {
  readonly order: Order
  readonly settlement: Settlement
  readonly attemptId: string
  readonly leaseMs: number
  readonly attemptsMax: number
  readonly nowMs: number
}

/**
 * Decides a claim. Only one attempt is live (I3). A claim is bound to the wallet, the endpoint and the digest of the
 * order (I6).
 */
export function decideClaim(state: PaymentState, command: ClaimCommand): PaymentDecision | Refusal {
  assert(command.leaseMs > 0, 'a lease lasts')
  assert(command.settlement.wallet === command.order.wallet || state.phase !== 'unknown', 'a payment serves its payer')
  const refusal = mayUse(state, command.order, command.nowMs)
  if (refusal !== undefined) return refusal
  const { settlement } = command
  if (isDebit(settlement)) return decideDebit(state, { ...command, settlement })
  switch (state.phase) {
    case 'unknown':
    case 'submitted':
      return firstClaim(command)
    case 'verified':
    case 'released':
      return { step: 'payment.claim', events: [claimEvent(state, command)] }
    case 'claimed':
    case 'streaming':
      // Do not take over the last attempt. A job ends this attempt, and the payment is then owed back.
      if (isLastAttempt(state, command.attemptsMax)) return refuseInProgress(inProgressRetryMaxSeconds)
      return { step: 'payment.claim', events: [failureEvent(state, 'lease_expired'), claimEvent(state, command)] }
    case 'fulfilled':
    case 'refund_due':
    case 'reversed':
    case 'exhausted':
    case 'unmatched':
      throw new Bug('a payment that has ended is refused before it is claimed')
    default:
      return assertNever(state)
  }
}

function firstClaim(command: ClaimCommand): PaymentDecision | Refusal {
  const { settlement } = command
  const { price, burnedBaseUnits } = settlement
  const { mint, endpoint } = price
  // A plain deposit is public on chain, so a stranger could present it with another session key.
  if (isDepositPrice(price) && !isBound(settlement)) return refuseProof('deposit_not_bound')
  const burned = { kind: 'TokensBurned', mint, endpoint, burnedBaseUnits } as const
  return {
    step: 'payment.claim',
    events: [
      { kind: 'PaymentVerified', settlement },
      // The service owes its own burn only after the delivery. Until then the whole price is held for the caller.
      ...(isPaidWhole(settlement) || isDepositPrice(price) ? [] : [burned]),
      claimEvent({ attempt: 0, settlement, isFinal: false }, command),
    ],
  }
}

type BeforeClaim = Pick<Verified, 'attempt' | 'settlement' | 'isFinal'>

function claimEvent(before: BeforeClaim, { order, attemptId, leaseMs }: ClaimCommand): ProofClaimed {
  return {
    kind: 'ProofClaimed',
    attempt: before.attempt + 1,
    attemptId,
    wallet: order.wallet,
    endpoint: order.endpoint,
    orderDigest: order.digest,
    leaseMs,
    ...exposureOf(before),
  }
}

/** Returns the amount that the service loses if the chain drops the payment after an answer. */
export function exposureOf({ settlement, isFinal: final }: Pick<Verified, 'settlement' | 'isFinal'>) {
  const { mint, requiredBaseUnits } = settlement.price
  assert(requiredBaseUnits > 0n, 'an answer has a price')
  return { mint, exposedBaseUnits: final ? 0n : requiredBaseUnits }
}

export function failureEvent(state: LiveAttempt, reason: FailureReason): RequestFailed {
  const { attempt, attemptId } = state
  assert(attempt >= 1, 'a live attempt is counted from 1')
  return { kind: 'RequestFailed', attempt, attemptId, reason, ...exposureOf(state) }
}

/**
 * Returns the live attempt. Undefined if the attempt has ended, because a slow handler must not end the attempt of its
 * successor.
 */
function findLive(state: PaymentState, attemptId: string): LiveAttempt | undefined {
  const isLive = (state.phase === 'claimed' || state.phase === 'streaming') && state.attemptId === attemptId
  assert(!isLive || state.attempt >= 1, 'a live attempt is counted from 1')
  return isLive ? state : undefined
}

/**
 * Starts a streamed answer, and renews the lease before its first byte is sent. Undefined if the attempt has ended, or
 * has already started its answer.
 */
export function decideStart(state: PaymentState, attemptId: string): PaymentDecision | undefined {
  const live = findLive(state, attemptId)
  if (live === undefined || live.phase === 'streaming') return undefined
  const started: AnswerStarted = { kind: 'AnswerStarted', attempt: live.attempt, attemptId }
  return { step: isDebit(live.settlement) ? 'tab_request.start' : 'payment.start', events: [started] }
}

export interface FulfilCommand {
  readonly attemptId: string
  readonly orderDigest: string
  readonly answerDigest: string
  readonly deposit?: TabDeposit
  /** Amount charged for a debit, at most its hold. Absent: the whole hold, or the price of a payment on the chain. */
  readonly charged?: Charge
  readonly usage?: Usage
}

/** Decides a delivery. Only the latest attempt may fulfil, and only once (I1, I3). Undefined if the attempt has ended. */
export function decideFulfil(state: PaymentState, command: FulfilCommand): PaymentDecision | undefined {
  const { attemptId, orderDigest, answerDigest, deposit } = command
  const live = findLive(state, attemptId)
  if (live === undefined) return undefined
  const { settlement } = live
  if (isDebit(settlement)) return decideCapture({ ...live, settlement }, command)
  const { price } = settlement
  const { mint, shares, requiredBaseUnits, burnBaseUnits } = price
  const { attempt } = live
  const fulfilled = { kind: 'RequestFulfilled', attempt, attemptId, orderDigest, answerDigest } as const
  if (isDepositPrice(price)) return { step: 'payment.fulfil', events: [fulfilled, depositEvent(settlement, deposit)] }
  const allocatedBaseUnits = shares.reduce((sum, { baseUnits }) => sum + baseUnits, burnBaseUnits)
  assert(allocatedBaseUnits === requiredBaseUnits, 'burn and shares are the whole price (I18)')
  return {
    step: 'payment.fulfil',
    events: [fulfilled, ...owedBurnOf(settlement), { kind: 'DistributionAllocated', mint, parts: shares }],
  }
}

/**
 * Returns the burn that the service owes from the delivery on. Dollars cannot be burned, so their price promises a burn
 * in the service token, if any. Any other price owes its burn only if the payer has not burned it.
 */
function owedBurnOf(settlement: Settlement) {
  const { mint, endpoint, burnBaseUnits } = settlement.price
  if (settlement.price.tokenBurn !== undefined) return promisedBurnOf(settlement.price)
  const isOwed = burnBaseUnits > 0n && isPaidWhole(settlement)
  return isOwed ? [{ kind: 'BurnOwed', mint, endpoint, owedBaseUnits: burnBaseUnits } as const] : []
}

function depositEvent({ wallet, price }: Settlement, deposit: TabDeposit | undefined): PaymentEvent {
  assert(deposit !== undefined, 'the answer to a deposit is a tab')
  const { tab, terms } = deposit
  const facts = { tab, mint: price.mint, wallet, depositBaseUnits: price.requiredBaseUnits }
  return terms === undefined ? { kind: 'TabToppedUp', ...facts } : { kind: 'TabOpened', ...facts, terms }
}

export interface ReleaseCommand {
  readonly attemptId: string
  readonly reason: FailureReason
  readonly attemptsMax: number
}

/**
 * Ends a failed attempt, which leaves the proof usable (I4), unless it was the last. Undefined if the attempt has
 * ended, or has started its answer.
 */
export function decideRelease(state: PaymentState, command: ReleaseCommand): PaymentDecision | undefined {
  const live = findLive(state, command.attemptId)
  if (live === undefined || live.phase === 'streaming') return undefined
  return endAttempt(live, failureEvent(live, command.reason), command.attemptsMax)
}

export interface BreakCommand {
  readonly attemptId: string
  readonly bytes: number
  readonly digest: string
  readonly attemptsMax: number
}

/**
 * Ends the attempt of a broken stream. The proof stays usable (I4), because the answer is incomplete. The last attempt
 * of a payment ends its use. Undefined if the attempt has ended, or has not started its answer.
 */
export function decideBreak(state: PaymentState, command: BreakCommand): PaymentDecision | undefined {
  const { attemptId, bytes, digest, attemptsMax } = command
  assert(bytes >= 0, 'a number of bytes is sent')
  const live = findLive(state, attemptId)
  if (live === undefined || live.phase === 'claimed') return undefined
  const { attempt } = live
  return endAttempt(live, { kind: 'AnswerBroken', attempt, attemptId, bytes, digest, ...exposureOf(live) }, attemptsMax)
}

/** Ends an attempt. Attempts are limited, so that one payment cannot buy any number of handler runs. */
export function endAttempt(live: LiveAttempt, end: RequestFailed | AnswerBroken, attemptsMax: number): PaymentDecision {
  // The tab gets the whole hold back after each failure, so nothing is owed to the wallet.
  if (isDebit(live.settlement)) return { step: 'tab_request.release', events: [end, ...returnedBy(live)] }
  if (!isLastAttempt(live, attemptsMax)) return { step: 'payment.release', events: [end] }
  const exhausted = { kind: 'AttemptsExhausted', attempts: live.attempt } as const
  const refund = live.isFinal ? [refundEvent(live)] : []
  return { step: 'payment.exhaust', events: [end, exhausted, ...refund] }
}

function isLastAttempt({ attempt }: LiveAttempt, attemptsMax: number): boolean {
  assert(attemptsMax >= 1, 'a payment may be used at least once')
  return attempt >= attemptsMax
}
