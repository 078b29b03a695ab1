import { assert, assertNever } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { TabId } from '@tollbook/core/tab'
import type { PaymentEvent } from './events.ts'
import type { PaymentSubmitted } from './events/verificationEvents.ts'
import type { Settlement } from './settlement.ts'
import { chargedBy, owingBurn, settlementOfDebit } from './tabSettlement.ts'

/*
 * The lifecycle of one payment: its states, and how its events change them. paymentUse.ts decides who may use a
 * payment. Other files decide the steps: attempt.ts for an attempt, submission.ts for a submission, and finality.ts
 * after the answer. Each file is pure: it takes a command and returns a step with its events. The ledger decides who is
 * first: it accepts events only for the version on which they were decided.
 *
 *   unknown ──submit──▶ submitted ──claim──▶ claimed ──fulfil──▶ fulfilled
 *      └──────────────claim─────────────────▶ │ ▲ └─start─▶ streaming ──fulfil──▶
 *                                     release│ │claim │ release
 *                                             ▼ │ ▼
 *                                           released ──refund──▶ refund_due
 *
 * The last permitted attempt exhausts the payment instead of releasing it. The payment is then owed back at once if it
 * is final, or otherwise with its finality.
 *
 * A verified payment also waits for finality, which never occurs during a claim. The payment then becomes final, in the
 * same phase, or reversed. Only a final payment is ever refunded. Tokens without a request, and tokens of a reversed
 * payment that landed later, end as unmatched. The ledger stores phase and finality as one state (`stateName`), and
 * migrations/kinds/payment.sql has each step as rows.
 */

/** `version` is the number of events and guards the next append. */
export type PaymentState =
  /** `isFinal`: true for a debit of a tab whose deposits are all final. Absent: false. */
  | { readonly phase: 'unknown'; readonly version: 0; readonly isFinal?: boolean }
  | Submitted
  | (Verified & { readonly phase: 'verified' | 'released' })
  | LiveAttempt
  | (Verified & { readonly phase: 'fulfilled' | 'exhausted' | 'refund_due' | 'reversed' })
  | {
      readonly phase: 'unmatched'
      readonly version: number
      readonly wallet: Address | undefined
      /** Absent for a payout or a burn. */
      readonly mint?: Address
    }

/** A job sends its transaction again, for example after a crash. */
export interface Submitted extends Pick<PaymentSubmitted, 'wallet' | 'endpoint' | 'transactionBase64' | 'offer'> {
  readonly phase: 'submitted'
  readonly version: number
}

export interface Verified {
  readonly version: number
  readonly settlement: Settlement
  /** Number of attempts so far. 0 between the events of a first claim. */
  readonly attempt: number
  readonly endpoint: string
  readonly isFinal: boolean
  readonly tab?: TabId
}

export type LiveAttempt = Verified & {
  readonly phase: 'claimed' | 'streaming'
  readonly attemptId: string
  readonly leaseMs: number
  readonly leaseUntilMs: number
}

export const unknownPayment: PaymentState = { phase: 'unknown', version: 0 }

/** Returns the name that the ledger stores. It is empty for a payment that is not in the ledger. */
export function stateName(state: PaymentState): string {
  if (state.phase === 'unknown') return ''
  if ('settlement' in state && state.settlement.debit !== undefined) return tabStates[state.phase] ?? state.phase
  assert(state.phase !== 'verified', 'no append ends between verification and claim')
  assert(state.phase !== 'exhausted' || !state.isFinal, 'a final payment is owed back when its attempts are exhausted')
  return isFinal(state) && state.phase !== 'refund_due' ? `${state.phase}.final` : state.phase
}

// Names of the states of a debit. They differ from the states of a payment, because a debit has no finality.
const tabStates: Readonly<Partial<Record<PaymentState['phase'], string>>> = {
  claimed: 'debited',
  fulfilled: 'captured',
}

/**
 * True if the chain can no longer drop the payment. A recorded debit is always final, although the chain may drop the
 * deposit of its tab.
 */
export function isFinal(state: PaymentState): boolean {
  return 'isFinal' in state && (state.isFinal ?? false)
}

/** A step of `migrations/kinds`, with exactly the events that this step accepts. */
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
  | 'arrival.record'
  | 'tab_request.debit'
  | 'tab_request.start'
  | 'tab_request.capture'
  | 'tab_request.release'
  | 'tab_request.expire'

export interface Order {
  readonly wallet: Address
  readonly endpoint: string
  readonly digest: string
  /** Units of input, for a price by use. Present if the service can end the answer where a smaller hold is used up. */
  readonly inputUnits?: number
}

/**
 * Applies an event to the state. `recordedAtMs` is the time of the ledger's clock, which alone decides when a lease
 * ends.
 */
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
    case 'BurnOwed': {
      const { settlement, ...verified } = afterVerification(state)
      return { ...verified, settlement: owingBurn(settlement, event), version }
    }
    case 'DistributionAllocated':
    case 'TokensBurned':
    case 'BurnReversed':
    case 'BurnOwedReversed':
    case 'DepositReversed':
    case 'TabReturned':
      return { ...afterVerification(state), version }
    case 'TabOpened':
    case 'TabToppedUp':
      return { ...afterVerification(state), version, tab: event.tab }
    case 'TabDebited': {
      const { attempt, attemptId, leaseMs, price } = event
      const lease = { attemptId, leaseMs, leaseUntilMs: recordedAtMs + leaseMs }
      const settlement = settlementOfDebit(event)
      // A debit is final at once: the tokens are already on the tab, so the chain can only drop the deposit.
      return { phase: 'claimed', version, settlement, attempt, endpoint: price.endpoint, isFinal: true, ...lease }
    }
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
    case 'TabCaptured': {
      const { settlement, ...verified } = verifiedOf(state)
      return { ...verified, settlement: chargedBy(settlement, event), phase: 'fulfilled', version }
    }
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
    case 'TokensDelivered':
      return { phase: 'unmatched', version, wallet: event.wallet, mint: event.mint }
    default:
      return assertNever(event)
  }
}

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
  const { settlement, attempt, endpoint, isFinal: final, tab } = afterVerification(state)
  return { settlement, attempt, endpoint, isFinal: final, ...(tab === undefined ? {} : { tab }) }
}
