import { assert, assertNever, Bug } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { FailureReason, PaymentEvent, ProofClaimed } from './events.ts'
import { type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import type { Settlement } from './settlement.ts'

/*
 * The life of one payment: commands in, events out. Pure; who is first is decided by the ledger, which takes the events
 * only if the version is still the one that was decided on.
 *
 *   unknown ──submit──▶ submitted ──claim──▶ claimed ──fulfil──▶ fulfilled
 *      └──────────────claim─────────────────▶   │ ▲
 *                                        release│ │claim again, or the lease of a dead attempt ended
 *                                               ▼ │
 *                                             released ──refund──▶ refund_due
 *
 * Beside that, a verified payment waits for finality, which never comes in the middle of a claim. It ends as finalized,
 * in the same phase, or as reversed; only a finalized one is ever refunded. Tokens that nobody presented, and those of a
 * reversed payment that arrived after all, end as unmatched.
 */

export type PaymentState =
  | { readonly phase: 'unknown'; readonly version: 0 }
  | { readonly phase: 'submitted'; readonly version: number; readonly wallet: Address; readonly endpoint: string }
  | (Claimable & { readonly phase: 'verified' | 'released' })
  | (Claimable & { readonly phase: 'claimed'; readonly attemptId: string; readonly leaseUntilMs: number })
  | (Claimable & { readonly phase: 'fulfilled' | 'refund_due' | 'reversed' })
  | { readonly phase: 'unmatched'; readonly version: number; readonly wallet: Address | undefined }

interface Claimable {
  readonly version: number
  readonly settlement: Settlement
  /** Attempts so far, counted from 1; 0 when the payment is verified and nobody has claimed it. */
  readonly attempt: number
  readonly endpoint: string
  /** True until the chain can no longer drop the payment, or has. */
  readonly awaitsFinality: boolean
}

export const unknownPayment: PaymentState = { phase: 'unknown', version: 0 }

/** The chain can no longer drop it, so serving it risks nothing. */
export function isFinal(state: PaymentState): boolean {
  return 'awaitsFinality' in state && !state.awaitsFinality
}

/** Who wants what for the payment. */
export interface Order {
  readonly wallet: Address
  readonly endpoint: string
  /** SHA-256 in hex of method, endpoint and canonical parameters. */
  readonly digest: string
}

/** May this order use this payment, as far as the book knows it? Asked before a chain is asked, and again by the claim. */
export function mayUse(state: PaymentState, order: Order, nowMs: number): Refusal | undefined {
  switch (state.phase) {
    case 'unknown':
      return undefined
    case 'submitted':
      return checkOwner(state.wallet, state.endpoint, order)
    case 'fulfilled':
      return checkOwner(state.settlement.wallet, order.endpoint, order) ?? refuseProof('already_used')
    case 'refund_due':
    case 'reversed':
      return (
        checkOwner(state.settlement.wallet, order.endpoint, order) ??
        refuseProof(state.phase === 'refund_due' ? 'refund_due' : 'payment_reversed')
      )
    case 'unmatched':
      return refuseProof('too_old')
    case 'claimed':
      return checkOwner(state.settlement.wallet, state.endpoint, order) ?? checkLease(state.leaseUntilMs, nowMs)
    case 'verified':
    case 'released':
      return checkOwner(state.settlement.wallet, state.endpoint, order)
    default:
      return assertNever(state)
  }
}

function checkOwner(wallet: Address, endpoint: string, order: Order): Refusal | undefined {
  if (wallet !== order.wallet) return refuseProof('other_wallet')
  if (endpoint !== order.endpoint) return refuseProof('other_endpoint', endpoint)
  return undefined
}

function checkLease(leaseUntilMs: number, nowMs: number): Refusal | undefined {
  if (nowMs >= leaseUntilMs) return undefined
  const retryAfterSeconds = Math.min(Math.ceil((leaseUntilMs - nowMs) / 1000), inProgressRetryMaxSeconds)
  return refuse(
    'PAYMENT_IN_PROGRESS',
    'another request with this proof is being served; retry with the same proof',
    retryAfterSeconds,
  )
}

// Most answers take well under a second, so a caller is told to come back long before a lease of a minute ends.
const inProgressRetryMaxSeconds = 5

export interface ClaimCommand {
  readonly order: Order
  /** The verified payment; from the chain the first time, from the book afterwards. */
  readonly settlement: Settlement
  readonly attemptId: string
  readonly leaseMs: number
  readonly nowMs: number
}

/** Attempts are 1, 2, 3…, one of them live (I3); a claim is bound to wallet, endpoint, parameters and price (I6). */
export function decideClaim(state: PaymentState, command: ClaimCommand): readonly PaymentEvent[] | Refusal {
  const refusal = mayUse(state, command.order, command.nowMs)
  if (refusal !== undefined) return refusal
  switch (state.phase) {
    case 'unknown':
    case 'submitted':
      return [...verificationEvents(command.settlement), claimEvent(1, command)]
    case 'verified':
    case 'released':
      return [claimEvent(state.attempt + 1, command)]
    case 'claimed':
      return [failureEvent(state, 'lease_expired'), claimEvent(state.attempt + 1, command)]
    case 'fulfilled':
    case 'refund_due':
    case 'reversed':
    case 'unmatched':
      throw new Bug('a payment that has ended is refused before it is claimed')
    default:
      return assertNever(state)
  }
}

function verificationEvents(settlement: Settlement): readonly PaymentEvent[] {
  const { price, burnedBaseUnits } = settlement
  return [
    { kind: 'PaymentVerified', settlement },
    { kind: 'TokensBurned', mint: price.mint, endpoint: price.endpoint, burnedBaseUnits },
  ]
}

function claimEvent(attempt: number, { order, attemptId, leaseMs }: ClaimCommand): ProofClaimed {
  return {
    kind: 'ProofClaimed',
    attempt,
    attemptId,
    wallet: order.wallet,
    endpoint: order.endpoint,
    orderDigest: order.digest,
    leaseMs,
  }
}

type Claimed = Extract<PaymentState, { phase: 'claimed' }>

function failureEvent(state: Claimed, reason: FailureReason): PaymentEvent {
  return { kind: 'RequestFailed', attempt: state.attempt, attemptId: state.attemptId, reason }
}

export interface FulfilCommand {
  readonly attemptId: string
  readonly orderDigest: string
  readonly answerDigest: string
}

/** Only the latest attempt may fulfil, and only once (I1, I3). Undefined when the attempt was overtaken. */
export function decideFulfil(state: PaymentState, command: FulfilCommand): readonly PaymentEvent[] | undefined {
  if (state.phase !== 'claimed' || state.attemptId !== command.attemptId) return undefined
  const { price } = state.settlement
  return [
    { kind: 'RequestFulfilled', attempt: state.attempt, ...command },
    {
      kind: 'DistributionAllocated',
      mint: price.mint,
      providerBaseUnits: price.providerBaseUnits,
      holdersBaseUnits: price.holdersBaseUnits,
      treasuryBaseUnits: price.treasuryBaseUnits,
    },
  ]
}

/** A failed attempt leaves the proof usable (I4). Undefined when the attempt was overtaken. */
export function decideRelease(
  state: PaymentState,
  attemptId: string,
  reason: FailureReason,
): readonly PaymentEvent[] | undefined {
  if (state.phase !== 'claimed' || state.attemptId !== attemptId) return undefined
  return [failureEvent(state, reason)]
}

/** Folds one recorded event into the state. `recordedAtMs` is the ledger's clock, the only one that counts for leases. */
export function evolve(state: PaymentState, event: PaymentEvent, recordedAtMs: number): PaymentState {
  const version = state.version + 1
  switch (event.kind) {
    case 'PaymentSubmitted':
      return { phase: 'submitted', version, wallet: event.wallet, endpoint: event.endpoint }
    case 'PaymentVerified':
      return {
        phase: 'verified',
        version,
        settlement: event.settlement,
        attempt: 0,
        endpoint: event.settlement.price.endpoint,
        awaitsFinality: true,
      }
    case 'TokensBurned':
    case 'DistributionAllocated':
      return { ...afterVerification(state), version }
    case 'ProofClaimed': {
      const { settlement, awaitsFinality } = afterVerification(state)
      const { attempt, attemptId, endpoint, leaseMs } = event
      return {
        phase: 'claimed',
        version,
        settlement,
        awaitsFinality,
        attempt,
        endpoint,
        attemptId,
        leaseUntilMs: recordedAtMs + leaseMs,
      }
    }
    case 'RequestFulfilled':
      return { phase: 'fulfilled', version, ...claimableOf(afterVerification(state)) }
    case 'RequestFailed':
      return { phase: 'released', version, ...claimableOf(afterVerification(state)) }
    case 'PaymentFinalized':
      return { ...afterVerification(state), version, awaitsFinality: false }
    case 'PaymentReversed':
      return { phase: 'reversed', version, ...claimableOf(afterVerification(state)), awaitsFinality: false }
    case 'RefundDue':
      return { phase: 'refund_due', version, ...claimableOf(afterVerification(state)) }
    case 'TransferReceived':
      return { phase: 'unmatched', version, wallet: event.wallet }
    default:
      return assertNever(event)
  }
}

type AfterVerification = Exclude<PaymentState, { phase: 'unknown' | 'submitted' | 'unmatched' }>

function afterVerification(state: PaymentState): AfterVerification {
  assert(
    state.phase !== 'unknown' && state.phase !== 'submitted' && state.phase !== 'unmatched',
    'a payment is verified before anything else happens to it',
  )
  return state
}

function claimableOf({ settlement, attempt, endpoint, awaitsFinality }: AfterVerification): Omit<Claimable, 'version'> {
  return { settlement, attempt, endpoint, awaitsFinality }
}
