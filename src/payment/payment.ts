import { assert, assertNever, Bug } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { AnswerBroken, AnswerStarted, FailureReason, ProofClaimed, RequestFailed } from './events/attemptEvents.ts'
import type { PaymentEvent } from './events.ts'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import { checkLease, inProgressRetryMaxSeconds, refuseInProgress } from './lease.ts'
import { refundEvent } from './refund.ts'
import { owesBurn, type Settlement } from './settlement.ts'

/*
 * The lifecycle of one payment: commands in, a step and its events out. Pure; the ledger decides who is first, because
 * it takes the events only if the version is still the one that was decided on.
 *
 *   unknown ──submit──▶ submitted ──claim──▶ claimed ──fulfil──▶ fulfilled
 *      └──────────────claim─────────────────▶ │ ▲ └─start─▶ streaming ──fulfil──▶
 *                                     release│ │claim │ release
 *                                             ▼ │ ▼
 *                                           released ──refund──▶ refund_due
 *
 * The last permitted attempt does not release: it exhausts the payment, which is then owed back at once if it is final, or
 * with its finality.
 *
 * A verified payment also waits for finality, which never occurs during a claim. It ends as final, in the same phase,
 * or as reversed; only a final payment is ever refunded. Tokens without a request, and those of a reversed payment
 * that landed later, end as unmatched. The ledger stores phase and finality as one state (`stateName`), and
 * migrations/kinds/payment.sql has each step as rows.
 */

/** State of a payment, folded from its events. `version` is the number of events and guards the next append. */
export type PaymentState =
  | { readonly phase: 'unknown'; readonly version: 0 }
  | Submitted
  | (Verified & { readonly phase: 'verified' | 'released' })
  | LiveAttempt
  | (Verified & { readonly phase: 'fulfilled' | 'exhausted' | 'refund_due' | 'reversed' })
  | { readonly phase: 'unmatched'; readonly version: number; readonly wallet: Address | undefined }

interface Submitted {
  readonly phase: 'submitted'
  readonly version: number
  readonly wallet: Address
  readonly endpoint: string
  /** To be sent again until it is on chain. */
  readonly transactionBase64: string
}

interface Verified {
  readonly version: number
  readonly settlement: Settlement
  /** Attempts so far, counted from 1; 0 between the events of a first claim. */
  readonly attempt: number
  readonly endpoint: string
  /** The chain can no longer drop the payment. */
  readonly isFinal: boolean
}

/** An attempt has the payment. */
export type LiveAttempt = Verified & {
  readonly phase: 'claimed' | 'streaming'
  readonly attemptId: string
  readonly leaseMs: number
  readonly leaseUntilMs: number
}

export const unknownPayment: PaymentState = { phase: 'unknown', version: 0 }

/** Name of the state as the ledger stores it; empty for a payment that it does not have. */
export function stateName(state: PaymentState): string {
  if (state.phase === 'unknown') return ''
  assert(state.phase !== 'verified', 'no append ends between verification and claim')
  assert(state.phase !== 'exhausted' || !state.isFinal, 'a final payment is owed back when its attempts are exhausted')
  return isFinal(state) && state.phase !== 'refund_due' ? `${state.phase}.final` : state.phase
}

/** The chain can no longer drop it, so serving it risks nothing. */
export function isFinal(state: PaymentState): boolean {
  return 'isFinal' in state && state.isFinal
}

/** A step of migrations/kinds/payment.sql and exactly the events that it takes. */
export interface PaymentDecision {
  readonly step: PaymentStep
  readonly events: readonly PaymentEvent[]
}

export type PaymentStep =
  | 'payment.submit'
  | 'payment.claim'
  | 'payment.start'
  | 'payment.fulfil'
  | 'payment.release'
  | 'payment.exhaust'
  | 'payment.expire'
  | 'payment.finalize'
  | 'payment.reverse'
  | 'payment.refund'
  | 'payment.unmatch'

/** Order of a wallet for the payment. */
export interface Order {
  readonly wallet: Address
  readonly endpoint: string
  /** SHA-256 in hex of method, endpoint and canonical parameters. */
  readonly digest: string
}

/** May this order use this payment, as far as the ledger knows it? Asked before a chain is asked, and again by the claim. */
export function mayUse(state: PaymentState, order: Order, nowMs: number): Refusal | undefined {
  switch (state.phase) {
    case 'unknown':
      return undefined
    case 'submitted':
      return checkOwner(state.wallet, state.endpoint, order)
    case 'fulfilled':
      return checkOwner(state.settlement.wallet, order.endpoint, order) ?? refuseProof('already_used')
    case 'exhausted':
    case 'refund_due':
    case 'reversed':
      return checkOwner(state.settlement.wallet, order.endpoint, order) ?? refuseProof(endReasons[state.phase])
    case 'unmatched':
      return refuseProof('too_old')
    case 'claimed':
    case 'streaming':
      return checkOwner(state.settlement.wallet, state.endpoint, order) ?? checkLease(state, nowMs)
    case 'verified':
    case 'released':
      return checkOwner(state.settlement.wallet, state.endpoint, order)
    default:
      return assertNever(state)
  }
}

const endReasons = {
  exhausted: 'attempts_exhausted',
  refund_due: 'refund_due',
  reversed: 'payment_reversed',
} as const

function checkOwner(wallet: Address, endpoint: string, order: Order): Refusal | undefined {
  if (wallet !== order.wallet) return refuseProof('other_wallet')
  if (endpoint !== order.endpoint) return refuseProof('other_endpoint', endpoint)
  return undefined
}

/** Consumes a settlement for one attempt. */
export interface ClaimCommand {
  readonly order: Order
  /** The verified payment; from the chain the first time, from the ledger afterwards. */
  readonly settlement: Settlement
  readonly attemptId: string
  readonly leaseMs: number
  readonly attemptsMax: number
  readonly nowMs: number
}

/** Attempts are 1, 2, 3…, one of them live (I3); a claim is bound to wallet, endpoint, parameters and price (I6). */
export function decideClaim(state: PaymentState, command: ClaimCommand): PaymentDecision | Refusal {
  assert(command.leaseMs > 0, 'a lease lasts')
  assert(command.settlement.wallet === command.order.wallet || state.phase !== 'unknown', 'a payment serves its payer')
  const refusal = mayUse(state, command.order, command.nowMs)
  if (refusal !== undefined) return refusal
  switch (state.phase) {
    case 'unknown':
    case 'submitted':
      return firstClaim(command)
    case 'verified':
    case 'released':
      return { step: 'payment.claim', events: [claimEvent(state, command)] }
    case 'claimed':
    case 'streaming':
      // The last attempt is not taken over. A job ends it, and the payment is then owed back.
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

function firstClaim(command: ClaimCommand): PaymentDecision {
  const { settlement } = command
  const { price, burnedBaseUnits } = settlement
  const { mint, endpoint } = price
  const isOwed = owesBurn(settlement)
  return {
    step: 'payment.claim',
    events: [
      { kind: 'PaymentVerified', settlement },
      isOwed
        ? { kind: 'BurnOwed', mint, endpoint, owedBaseUnits: price.burnBaseUnits }
        : { kind: 'TokensBurned', mint, endpoint, burnedBaseUnits },
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

/** Amount that we lose if the chain drops the payment after an answer. It stays the same through a claim. */
export function exposureOf({ settlement, isFinal: final }: Pick<Verified, 'settlement' | 'isFinal'>) {
  const { mint, requiredBaseUnits } = settlement.price
  assert(requiredBaseUnits > 0n, 'an answer has a price')
  return { mint, exposedBaseUnits: final ? 0n : requiredBaseUnits }
}

/** The end of an attempt without a delivery. It lifts the exposure that the attempt had caused. */
export function failureEvent(state: LiveAttempt, reason: FailureReason): RequestFailed {
  const { attempt, attemptId } = state
  assert(attempt >= 1, 'a live attempt is counted from 1')
  return { kind: 'RequestFailed', attempt, attemptId, reason, ...exposureOf(state) }
}

/** Undefined when the attempt was overtaken. */
function findLive(state: PaymentState, attemptId: string): LiveAttempt | undefined {
  const isLive = (state.phase === 'claimed' || state.phase === 'streaming') && state.attemptId === attemptId
  assert(!isLive || state.attempt >= 1, 'a live attempt is counted from 1')
  return isLive ? state : undefined
}

/** Renews the lease before the first byte of a streamed answer. Undefined when the attempt was overtaken. */
export function decideStart(state: PaymentState, attemptId: string): PaymentDecision | undefined {
  const live = findLive(state, attemptId)
  if (live === undefined || live.phase === 'streaming') return undefined
  const started: AnswerStarted = { kind: 'AnswerStarted', attempt: live.attempt, attemptId }
  return { step: 'payment.start', events: [started] }
}

/** Digests are SHA-256 in hex: of the order, and of the answer as it will be sent. */
export interface FulfilCommand {
  readonly attemptId: string
  readonly orderDigest: string
  readonly answerDigest: string
}

/** Only the latest attempt may fulfil, and only once (I1, I3). Undefined when the attempt was overtaken. */
export function decideFulfil(state: PaymentState, command: FulfilCommand): PaymentDecision | undefined {
  const live = findLive(state, command.attemptId)
  if (live === undefined) return undefined
  const { mint, shares, requiredBaseUnits, burnBaseUnits } = live.settlement.price
  const allocated = shares.reduce((sum, { baseUnits }) => sum + baseUnits, burnBaseUnits)
  assert(allocated === requiredBaseUnits, 'burn and shares are the whole price (I18)')
  return {
    step: 'payment.fulfil',
    events: [
      { kind: 'RequestFulfilled', attempt: live.attempt, ...command },
      { kind: 'DistributionAllocated', mint, parts: shares },
    ],
  }
}

/** Ends an attempt so that the same proof can be used again. */
export interface ReleaseCommand {
  readonly attemptId: string
  readonly reason: FailureReason
  readonly attemptsMax: number
}

/** A failed attempt leaves the proof usable (I4), unless it was the last. Undefined when the attempt was overtaken. */
export function decideRelease(state: PaymentState, command: ReleaseCommand): PaymentDecision | undefined {
  const live = findLive(state, command.attemptId)
  if (live === undefined || live.phase === 'streaming') return undefined
  return endAttempt(live, failureEvent(live, command.reason), command.attemptsMax)
}

/** A stream that ended early, with the bytes that were sent and their digest. */
export interface BreakCommand {
  readonly attemptId: string
  readonly bytes: number
  readonly digest: string
  readonly attemptsMax: number
}

/** A streamed answer that is not whole leaves the proof usable too. Undefined when the attempt was overtaken. */
export function decideBreak(state: PaymentState, command: BreakCommand): PaymentDecision | undefined {
  const { attemptId, bytes, digest, attemptsMax } = command
  assert(bytes >= 0, 'a number of bytes is sent')
  const live = findLive(state, attemptId)
  if (live === undefined || live.phase === 'claimed') return undefined
  const { attempt } = live
  return endAttempt(live, { kind: 'AnswerBroken', attempt, attemptId, bytes, digest, ...exposureOf(live) }, attemptsMax)
}

/** Ends an attempt without a delivery. Attempts are bounded, so that one payment cannot buy any number of handler runs. */
export function endAttempt(live: LiveAttempt, end: RequestFailed | AnswerBroken, attemptsMax: number): PaymentDecision {
  if (!isLastAttempt(live, attemptsMax)) return { step: 'payment.release', events: [end] }
  const exhausted = { kind: 'AttemptsExhausted', attempts: live.attempt } as const
  const refund = live.isFinal ? [refundEvent(live)] : []
  return { step: 'payment.exhaust', events: [end, exhausted, ...refund] }
}

function isLastAttempt({ attempt }: LiveAttempt, attemptsMax: number): boolean {
  assert(attemptsMax >= 1, 'a payment may be used at least once')
  return attempt >= attemptsMax
}

/** Folds one recorded event into the state. `recordedAtMs` is the ledger's clock, the only one that counts for leases. */
export function evolve(state: PaymentState, event: PaymentEvent, recordedAtMs: number): PaymentState {
  const version = state.version + 1
  switch (event.kind) {
    case 'PaymentSubmitted': {
      const { wallet, endpoint, transactionBase64 } = event
      return { phase: 'submitted', version, wallet, endpoint, transactionBase64 }
    }
    case 'PaymentVerified': {
      const { settlement } = event
      const { endpoint } = settlement.price
      return { phase: 'verified', version, settlement, attempt: 0, endpoint, isFinal: false }
    }
    case 'TokensBurned':
    case 'BurnOwed':
    case 'DistributionAllocated':
    case 'BurnReversed':
      return { ...afterVerification(state), version }
    case 'ProofClaimed': {
      const { attempt, attemptId, endpoint, leaseMs } = event
      const lease = { attemptId, leaseMs, leaseUntilMs: recordedAtMs + leaseMs }
      return { ...verifiedOf(state), phase: 'claimed', version, attempt, endpoint, ...lease }
    }
    case 'AnswerStarted':
      assert(state.phase === 'claimed', 'an answer is claimed before it starts')
      return { ...state, phase: 'streaming', version, leaseUntilMs: recordedAtMs + state.leaseMs }
    case 'RequestFulfilled':
      return { ...verifiedOf(state), phase: 'fulfilled', version }
    case 'RequestFailed':
    case 'AnswerBroken':
      return { ...verifiedOf(state), phase: 'released', version }
    case 'AttemptsExhausted':
      return { ...verifiedOf(state), phase: 'exhausted', version }
    case 'PaymentFinalized':
      return { ...afterVerification(state), version, isFinal: true }
    case 'PaymentReversed':
      return { ...verifiedOf(state), phase: 'reversed', version }
    case 'RefundDue':
      return { ...verifiedOf(state), phase: 'refund_due', version }
    case 'TransferReceived':
      return { phase: 'unmatched', version, wallet: event.wallet }
    default:
      return assertNever(event)
  }
}

/** Folds the events of one append. */
export function evolveAll(state: PaymentState, events: readonly PaymentEvent[], recordedAtMs: number): PaymentState {
  assert(events.length > 0, 'an append has events')
  return events.reduce((before, event) => evolve(before, event, recordedAtMs), state)
}

type AfterVerification = Exclude<PaymentState, { phase: 'unknown' | 'submitted' | 'unmatched' }>

function afterVerification(state: PaymentState): AfterVerification {
  assert(
    state.phase !== 'unknown' && state.phase !== 'submitted' && state.phase !== 'unmatched',
    'a payment is verified before anything else happens to it',
  )
  return state
}

function verifiedOf(state: PaymentState): Omit<Verified, 'version'> {
  const { settlement, attempt, endpoint, isFinal: final } = afterVerification(state)
  return { settlement, attempt, endpoint, isFinal: final }
}
