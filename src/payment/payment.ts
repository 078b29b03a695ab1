import { assert, assertNever } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { PaymentEvent } from './events.ts'
import type { SponsoredOffer } from './events/verificationEvents.ts'
import type { Settlement } from './settlement.ts'

/*
 * The lifecycle of one payment: its states, and how its events change it. Other files say who may use it (paymentUse.ts),
 * and decide the steps: of an attempt in attempt.ts, of a submission in submission.ts, after the answer in finality.ts. Each is
 * pure: a command in, a step and its events out. The ledger decides who is first, because it takes the events only if the version
 * is still the one that was decided on.
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

export interface Submitted {
  readonly phase: 'submitted'
  readonly version: number
  readonly wallet: Address
  readonly endpoint: string
  /** To be sent again until it is on chain. */
  readonly transactionBase64: string
  /** Present when this service pays the network fee. */
  readonly offer?: SponsoredOffer
}

/** A payment that was verified, whatever became of it. */
export interface Verified {
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

/** Folds one recorded event into the state. `recordedAtMs` is the ledger's clock, the only one that counts for leases. */
export function evolve(state: PaymentState, event: PaymentEvent, recordedAtMs: number): PaymentState {
  const version = state.version + 1
  switch (event.kind) {
    case 'PaymentSubmitted': {
      const { wallet, endpoint, transactionBase64, offer } = event
      const submitted = { phase: 'submitted', version, wallet, endpoint, transactionBase64 } as const
      return offer === undefined ? submitted : { ...submitted, offer }
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
