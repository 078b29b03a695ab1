import { burnOf, describeShares, sameShares, type Shares, sharesOf } from './auditedPrice.ts'
import type { EventOf, PaymentEvent } from './auditedEvent.ts'
import type { FindingCode, Findings } from './findings.ts'
import type { Names } from './names.ts'
import { type AuditedPayment, none, type PaymentTable, type Phase, phaseNumber, phases } from './paymentTable.ts'
import type { PriceBook } from './priceBook.ts'
import type { SaltedDigest } from './saltedDigest.ts'

export interface LivesDeps {
  readonly findings: Findings
  readonly payments: PaymentTable
  readonly prices: PriceBook
  readonly names: Names
  readonly digest: SaltedDigest
}

/** Where and when an event was recorded. */
export interface Recorded {
  readonly position: number
  readonly recordedAtMs: number
}

export type Blame = (code: FindingCode, message: string) => void

/** One event of a payment, and the payment as it was before it. */
interface Step {
  readonly event: PaymentEvent
  readonly payment: AuditedPayment
  readonly recorded: Recorded
  readonly blame: Blame
  readonly deps: LivesDeps
}

/** What each event must find, and what it makes of the payment. */
export const rules: Readonly<Record<PaymentEvent['kind'], (step: Step) => void>> = {
  PaymentSubmitted: (step) => {
    if (step.event.kind !== 'PaymentSubmitted') return
    expectPhase(step, ['unknown'])
    step.payment.phase = phaseNumber('submitted')
    step.payment.walletDigest = step.deps.digest.ofRecent(step.event.wallet)
    step.payment.endpoint = step.deps.names.numberOf(step.event.endpoint)
  },
  PaymentVerified: (step) => {
    if (step.event.kind !== 'PaymentVerified') return
    expectPhase(step, ['unknown', 'submitted'])
    verify(step, step.event)
  },
  ProofClaimed: (step) => {
    if (step.event.kind !== 'ProofClaimed') return
    expectPhase(step, ['verified', 'released'])
    claim(step, step.event)
  },
  RequestFulfilled: (step) => {
    if (step.event.kind !== 'RequestFulfilled') return
    expectPhase(step, ['claimed'])
    expectAttempt(step, step.event)
    if (step.deps.digest.of(step.event.orderDigest) !== step.payment.orderDigest) {
      step.blame('attempt_wrong', 'the order that was fulfilled is not the one that was claimed')
    }
    endAttempt(step.payment, 'fulfilled')
  },
  RequestFailed: (step) => {
    if (step.event.kind !== 'RequestFailed') return
    expectPhase(step, ['claimed'])
    expectAttempt(step, step.event)
    expectReason(step, step.event)
    endAttempt(step.payment, 'released')
  },
  PaymentFinalized: (step) => {
    if (step.event.kind !== 'PaymentFinalized') return
    expectPhase(step, ['verified', 'released', 'fulfilled'])
    if (!step.payment.awaitsFinality) step.blame('life_impossible', 'it is final already')
    step.payment.awaitsFinality = false
    step.payment.slot = step.event.slot
  },
  PaymentReversed: (step) => {
    if (step.event.kind !== 'PaymentReversed') return
    expectPhase(step, ['verified', 'released', 'fulfilled'])
    if (!step.payment.awaitsFinality) step.blame('life_impossible', 'the chain cannot drop what is final')
    reverse(step, step.event)
  },
  RefundDue: (step) => {
    if (step.event.kind !== 'RefundDue') return
    expectPhase(step, ['verified', 'released'])
    if (step.payment.awaitsFinality) step.blame('life_impossible', 'only what is final is refunded')
    refund(step, step.event)
  },
  TransferReceived: (step) => {
    if (step.event.kind !== 'TransferReceived') return
    expectPhase(step, ['unknown', 'submitted', 'reversed'])
    // Who submitted it, or had paid with it, stays the name of the row; a transfer without a request has its sender's.
    if (step.payment.phase === phaseNumber('unknown')) {
      step.payment.walletDigest = step.deps.digest.of(step.event.wallet ?? '')
      step.payment.endpoint = step.deps.names.numberOf('')
    }
    step.payment.attempt = 0
    step.payment.slot = step.event.slot
    step.payment.phase = phaseNumber('unmatched')
  },
  // Judged together with the event that they belong to.
  TokensBurned: () => undefined,
  DistributionAllocated: () => undefined,
}

function expectPhase({ event, payment, blame }: Step, allowed: readonly Phase[]): void {
  const phase = phases[payment.phase] ?? 'unknown'
  if (!allowed.includes(phase)) blame('life_impossible', `${event.kind} of a payment that is ${phase}`)
}

function verify({ payment, recorded, blame, deps }: Step, event: EventOf<'PaymentVerified'>): void {
  const { settlement } = event
  const { price, wallet } = settlement
  const walletDigest = deps.digest.ofRecent(wallet)
  const endpoint = deps.names.numberOf(price.endpoint)
  if (payment.phase === phaseNumber('submitted')) {
    if (payment.walletDigest !== walletDigest) blame('owner_differs', 'another wallet had submitted the transaction')
    if (payment.endpoint !== endpoint) blame('owner_differs', 'it was submitted for another endpoint')
  }
  if (settlement.signature !== event.stream) blame('life_impossible', 'the settlement has another signature')
  if (settlement.blockTimeMs !== event.effectiveAtMs) blame('life_impossible', 'it took effect at another time')
  if (price.problem !== undefined) blame('price_wrong', price.problem)
  if (!deps.prices.offers(price.text, recorded.recordedAtMs)) {
    blame('price_not_published', `no price list in force had this price for ${price.endpoint}`)
  }
  const owed = price.requiredBaseUnits - price.burnBaseUnits
  if (settlement.burnedBaseUnits < price.burnBaseUnits) {
    blame('payment_short', `${settlement.burnedBaseUnits} were burned of ${price.burnBaseUnits}`)
  }
  if (settlement.receivedBaseUnits < owed) {
    blame('payment_short', `${settlement.receivedBaseUnits} were received of ${owed}`)
  }
  payment.phase = phaseNumber('verified')
  payment.walletDigest = walletDigest
  payment.quoteDigest = settlement.quoteId === undefined ? none : deps.digest.of(settlement.quoteId)
  payment.priceDigest = deps.digest.ofRecent(price.text)
  payment.requiredBaseUnits = price.requiredBaseUnits
  payment.burnedBaseUnits = settlement.burnedBaseUnits
  payment.overpaidBaseUnits = settlement.receivedBaseUnits - owed
  payment.blockTimeMs = settlement.blockTimeMs
  payment.slot = settlement.slot
  payment.awaitsFinality = true
  payment.endpoint = endpoint
  payment.mint = deps.names.numberOf(price.mint)
}

function claim({ payment, recorded, blame, deps }: Step, event: EventOf<'ProofClaimed'>): void {
  if (event.attempt !== payment.attempt + 1) {
    blame('attempt_wrong', `attempt ${event.attempt} follows attempt ${payment.attempt}`)
  }
  if (deps.digest.ofRecent(event.wallet) !== payment.walletDigest) blame('owner_differs', 'another wallet has paid')
  if (deps.names.numberOf(event.endpoint) !== payment.endpoint) {
    blame('owner_differs', `it was paid for ${deps.names.nameOf(payment.endpoint)}`)
  }
  payment.phase = phaseNumber('claimed')
  payment.attempt = event.attempt
  payment.attemptDigest = deps.digest.of(event.attemptId)
  payment.orderDigest = deps.digest.of(event.orderDigest)
  payment.leaseUntilMs = recorded.recordedAtMs + event.leaseMs
}

function expectAttempt(
  { payment, blame, deps }: Step,
  { attempt, attemptId }: EventOf<'RequestFulfilled' | 'RequestFailed'>,
): void {
  if (attempt !== payment.attempt) blame('attempt_wrong', `attempt ${attempt} ends while ${payment.attempt} is live`)
  if (deps.digest.of(attemptId) !== payment.attemptDigest) blame('attempt_wrong', 'another attempt id was claimed')
}

const failureReasons = new Set([
  'no_data',
  'upstream_failed',
  'upstream_timeout',
  'target_forbidden',
  'internal_error',
  'lease_expired',
])

function expectReason({ payment, recorded, blame }: Step, { reason }: EventOf<'RequestFailed'>): void {
  if (!failureReasons.has(reason)) blame('life_impossible', `no attempt ends with the reason ${reason}`)
  if (reason === 'lease_expired' && recorded.recordedAtMs < payment.leaseUntilMs) {
    blame('life_impossible', 'the lease was taken over before it had ended')
  }
}

function reverse({ payment, blame, deps }: Step, event: EventOf<'PaymentReversed'>): void {
  const owed = owedBy(payment)
  const isServed = payment.phase === phaseNumber('fulfilled')
  const right = [isServed ? 0n : owed, isServed ? owed : 0n, payment.overpaidBaseUnits, payment.burnedBaseUnits]
  const found = [event.unearnedBaseUnits, event.lostBaseUnits, event.overpaidBaseUnits, event.burnedBaseUnits]
  if (found.join() !== right.join()) {
    blame('reversal_differs', `${found.join(' / ')} are taken back, and the payment was ${right.join(' / ')}`)
  }
  expectOwner({ payment, blame, deps }, event)
  if (deps.names.numberOf(event.endpoint) !== payment.endpoint) blame('owner_differs', 'it was for another endpoint')
  payment.phase = phaseNumber('reversed')
  payment.awaitsFinality = false
}

function refund({ payment, blame, deps }: Step, event: EventOf<'RefundDue'>): void {
  const owed = owedBy(payment)
  if (event.refundBaseUnits !== owed) blame('refund_differs', `${event.refundBaseUnits} are owed back of ${owed}`)
  expectOwner({ payment, blame, deps }, event)
  payment.phase = phaseNumber('refund_due')
}

function expectOwner(
  { payment, blame, deps }: Pick<Step, 'payment' | 'blame' | 'deps'>,
  { wallet, mint }: { readonly wallet: string; readonly mint: string },
): void {
  if (deps.digest.of(wallet) !== payment.walletDigest) blame('owner_differs', 'another wallet had paid')
  if (deps.names.numberOf(mint) !== payment.mint) blame('owner_differs', 'another mint was paid')
}

/** What has to be delivered, or given back: everything that was required and not burned. */
function owedBy({ requiredBaseUnits }: AuditedPayment): bigint {
  return requiredBaseUnits - burnOf(requiredBaseUnits)
}

function endAttempt(payment: AuditedPayment, phase: Phase): void {
  payment.phase = phaseNumber(phase)
  payment.leaseUntilMs = none
}

/** Two events that are written together: the second stands at the next position. */
export interface Pair {
  readonly first: PaymentEvent
  readonly second: 'TokensBurned' | 'DistributionAllocated'
  readonly position: number
  readonly mint: string
  /** What is to be distributed follows from what was required. */
  readonly shares: Shares | undefined
}

export function pairOf(
  event: PaymentEvent,
  { payment, recorded, deps }: Omit<Step, 'event' | 'blame'>,
): Pair | undefined {
  const { position } = recorded
  if (event.kind === 'PaymentVerified') {
    return { first: event, second: 'TokensBurned', position, mint: event.settlement.price.mint, shares: undefined }
  }
  if (event.kind !== 'RequestFulfilled') return undefined
  const mint = deps.names.nameOf(payment.mint)
  return { first: event, second: 'DistributionAllocated', position, mint, shares: sharesOf(payment.requiredBaseUnits) }
}

/** What is wrong with the second event of a pair. */
export function judgePair({ first, mint, shares }: Pair, event: PaymentEvent): string | undefined {
  if (event.kind === 'TokensBurned' && first.kind === 'PaymentVerified') {
    const { burnedBaseUnits, price, blockTimeMs } = first.settlement
    if (event.burnedBaseUnits !== burnedBaseUnits) {
      return `${event.burnedBaseUnits} are booked as burned, and ${burnedBaseUnits} were verified`
    }
    if (event.mint !== mint) return 'another mint was verified'
    if (event.endpoint !== price.endpoint) return `it was paid for ${price.endpoint}`
    if (event.effectiveAtMs !== blockTimeMs) return 'it took effect at another time'
  }
  if (event.kind === 'DistributionAllocated' && shares !== undefined) {
    if (event.mint !== mint) return 'another mint was paid'
    if (!sameShares(event, shares))
      return `${describeShares(event)} are allocated, and the split is ${describeShares(shares)}`
  }
  return undefined
}
