import type { FindingCode, Findings } from './findings.ts'
import { assertNever } from './invariant.ts'
import type { NumberedNames } from './numberedNames.ts'
import type { Attempt, AuditedSettlement, Exposure, PaymentEvent, PaymentEventOf } from './paymentEvents.ts'
import { type AuditedPayment, noValue, type PaymentTable, type Phase, phaseNumber, phases } from './paymentTable.ts'
import { dueOf, isPaidWhole } from './postings.ts'
import type { PublishedPrices } from './publishedPrices.ts'
import type { SaltedDigest } from './saltedDigest.ts'

export interface LifecycleDeps {
  readonly findings: Findings
  readonly payments: PaymentTable
  readonly prices: PublishedPrices
  readonly names: NumberedNames
  readonly digest: SaltedDigest
}

/** Position and time of recording. */
export interface Recorded {
  readonly position: number
  readonly recordedAtMs: number
}

export type Blame = (code: FindingCode, message: string) => void

/** One event of a payment, and the payment as it was before it. */
export interface Step {
  readonly event: PaymentEvent
  readonly payment: AuditedPayment
  readonly recorded: Recorded
  readonly blame: Blame
  readonly deps: LifecycleDeps
}

/** Holds the event against the payment, and carries the payment on. */
export function applyEvent(step: Step): void {
  const { event } = step
  switch (event.kind) {
    case 'PaymentSubmitted':
      return submit(step, event)
    case 'PaymentVerified':
      return verify(step, event)
    case 'ProofClaimed':
      return claim(step, event)
    case 'AnswerStarted':
      return start(step, event)
    case 'AnswerBroken':
      expectPhase(step, ['streaming'])
      return release(step, event)
    case 'RequestFulfilled':
      return fulfil(step, event)
    case 'RequestFailed':
      return fail(step, event)
    case 'AttemptsExhausted':
      return exhaust(step, event)
    case 'PaymentFinalized':
      return finalize(step, event)
    case 'PaymentReversed':
      return reverse(step, event)
    case 'RefundDue':
      return refund(step, event)
    case 'TransferReceived':
      return receive(step, event)
    case 'BurnOwed':
      step.payment.isBurnOwed = true
      return undefined
    case 'TokensBurned':
    case 'DistributionAllocated':
    case 'BurnReversed':
      // Judged together with the event that they belong to (paymentGroups.ts).
      return undefined
    default:
      return assertNever(event)
  }
}

function expectPhase({ event, payment, blame }: Step, allowed: readonly Phase[]): void {
  const phase = phases[payment.phase] ?? 'unknown'
  if (!allowed.includes(phase)) blame('lifecycle_impossible', `${event.kind} of a payment that is ${phase}`)
}

function submit(step: Step, event: PaymentEventOf<'PaymentSubmitted'>): void {
  expectPhase(step, ['unknown'])
  step.payment.phase = phaseNumber('submitted')
  step.payment.walletDigest = step.deps.digest.ofRecent(event.wallet)
  step.payment.endpoint = step.deps.names.numberOf(event.endpoint)
}

function verify(step: Step, event: PaymentEventOf<'PaymentVerified'>): void {
  expectPhase(step, ['unknown', 'submitted'])
  judgeSettlement(step, event)
  const { payment, deps } = step
  const { settlement } = event
  const { price } = settlement
  payment.phase = phaseNumber('verified')
  payment.walletDigest = deps.digest.ofRecent(settlement.wallet)
  payment.quoteDigest = settlement.quoteId === undefined ? noValue : deps.digest.of(settlement.quoteId)
  payment.priceDigest = deps.digest.ofRecent(price.text)
  payment.sharesDigest = deps.digest.ofRecent(price.sharesText)
  payment.requiredBaseUnits = price.requiredBaseUnits
  payment.burnBaseUnits = price.burnBaseUnits
  payment.burnedBaseUnits = settlement.burnedBaseUnits
  payment.overpaidBaseUnits = settlement.receivedBaseUnits - dueOf(settlement)
  payment.isPaidWhole = isPaidWhole(settlement)
  payment.blockTimeMs = settlement.evidence.blockTimeMs
  payment.slot = settlement.evidence.slot
  payment.awaitsFinality = true
  payment.endpoint = deps.names.numberOf(price.endpoint)
  payment.mint = deps.names.numberOf(price.mint)
}

function judgeSettlement({ payment, blame, deps }: Step, event: PaymentEventOf<'PaymentVerified'>): void {
  const { settlement } = event
  const { price, wallet, burnedBaseUnits, receivedBaseUnits } = settlement
  if (payment.phase === phaseNumber('submitted')) {
    const isSameWallet = payment.walletDigest === deps.digest.ofRecent(wallet)
    if (!isSameWallet) blame('owner_differs', 'another wallet had submitted the transaction')
    const isSameEndpoint = payment.endpoint === deps.names.numberOf(price.endpoint)
    if (!isSameEndpoint) blame('owner_differs', 'it was submitted for another endpoint')
  }
  if (settlement.reference !== event.stream) blame('lifecycle_impossible', 'the settlement has another reference')
  if (settlement.evidence.blockTimeMs !== event.effectiveAtMs) {
    blame('lifecycle_impossible', 'it took effect at another time')
  }
  if (price.problem !== undefined) blame('price_wrong', price.problem)
  // The price is that of the landing. An outage may delay the record for any time.
  const landedAtMs = settlement.evidence.blockTimeMs
  if (!deps.prices.offers(price, landedAtMs)) {
    const problem = deps.prices.findShareProblem(price, landedAtMs)
    if (price.problem === undefined && problem !== undefined) blame('price_wrong', problem)
    blame('price_not_published', `no price list in force had this price for ${price.endpoint}`)
  }
  judgePriceList(settlement, { blame, deps })
  // Either all of the burn is in the payment, or none of it and the service owes it.
  if (isPaidWhole(settlement) && burnedBaseUnits !== 0n) {
    blame('payment_short', `${burnedBaseUnits} were burned of ${price.burnBaseUnits}`)
  }
  const due = dueOf(settlement)
  if (receivedBaseUnits < due) blame('payment_short', `${receivedBaseUnits} were received of ${due}`)
}

/** A payment that names its price list has a price of it. */
function judgePriceList({ price, priceList }: AuditedSettlement, { blame, deps }: Pick<Step, 'blame' | 'deps'>): void {
  if (priceList === undefined || deps.prices.listOf(priceList)?.includes(deps.digest.ofRecent(price.text)) === true)
    return
  blame('price_not_published', `price list ${priceList} does not have this price for ${price.endpoint}`)
}

function claim(step: Step, event: PaymentEventOf<'ProofClaimed'>): void {
  expectPhase(step, ['verified', 'released'])
  const { payment, recorded, blame, deps } = step
  if (event.attempt !== payment.attempt + 1) {
    blame('attempt_wrong', `attempt ${event.attempt} follows attempt ${payment.attempt}`)
  }
  if (deps.digest.ofRecent(event.wallet) !== payment.walletDigest) blame('owner_differs', 'another wallet has paid')
  if (deps.names.numberOf(event.endpoint) !== payment.endpoint) {
    blame('owner_differs', `it was paid for ${deps.names.nameOf(payment.endpoint)}`)
  }
  // Until the chain can no longer drop it, an answer risks the whole price.
  expectExposure(step, event, payment.awaitsFinality ? payment.requiredBaseUnits : 0n)
  payment.exposedBaseUnits += event.exposedBaseUnits
  payment.phase = phaseNumber('claimed')
  payment.attempt = event.attempt
  payment.attemptDigest = deps.digest.of(event.attemptId)
  payment.orderDigest = deps.digest.of(event.orderDigest)
  payment.leaseMs = event.leaseMs
  payment.leaseUntilMs = recorded.recordedAtMs + event.leaseMs
}

/** The first byte of a streamed answer renews the lease. */
function start(step: Step, event: PaymentEventOf<'AnswerStarted'>): void {
  expectPhase(step, ['claimed'])
  expectAttempt(step, event)
  step.payment.phase = phaseNumber('streaming')
  step.payment.leaseUntilMs = step.recorded.recordedAtMs + step.payment.leaseMs
}

function fulfil(step: Step, event: PaymentEventOf<'RequestFulfilled'>): void {
  expectPhase(step, ['claimed', 'streaming'])
  expectAttempt(step, event)
  if (step.deps.digest.of(event.orderDigest) !== step.payment.orderDigest) {
    step.blame('attempt_wrong', 'the order that was fulfilled is not the one that was claimed')
  }
  step.payment.phase = phaseNumber('fulfilled')
  step.payment.leaseUntilMs = noValue
}

const failureReasons = new Set([
  'no_data',
  'upstream_failed',
  'upstream_timeout',
  'target_forbidden',
  'internal_error',
  'lease_expired',
])

function fail(step: Step, event: PaymentEventOf<'RequestFailed'>): void {
  const { payment, recorded, blame } = step
  const { reason } = event
  // An answer that had begun ends as broken, unless its process died.
  expectPhase(step, reason === 'lease_expired' ? ['claimed', 'streaming'] : ['claimed'])
  if (!failureReasons.has(reason)) blame('lifecycle_impossible', `an attempt does not end with the reason ${reason}`)
  if (reason === 'lease_expired' && recorded.recordedAtMs < payment.leaseUntilMs) {
    blame('lifecycle_impossible', 'the attempt was ended before its lease had')
  }
  release(step, event)
}

function release(step: Step, event: PaymentEventOf<'RequestFailed' | 'AnswerBroken'>): void {
  expectAttempt(step, event)
  endExposure(step, event)
  step.payment.phase = phaseNumber('released')
  step.payment.leaseUntilMs = noValue
}

/** The attempt that has just failed was the last. */
function exhaust(step: Step, { attempts }: PaymentEventOf<'AttemptsExhausted'>): void {
  expectPhase(step, ['released'])
  const { payment, blame } = step
  if (attempts !== payment.attempt)
    blame('attempt_wrong', `${attempts} attempts are counted, and ${payment.attempt} were made`)
  payment.phase = phaseNumber('exhausted')
}

function expectAttempt({ payment, blame, deps }: Step, { attempt, attemptId }: Attempt): void {
  if (attempt !== payment.attempt) blame('attempt_wrong', `the event names attempt ${attempt}, not ${payment.attempt}`)
  if (deps.digest.of(attemptId) !== payment.attemptDigest) blame('attempt_wrong', 'another attempt id was claimed')
}

function endExposure(step: Step, event: Exposure): void {
  expectExposure(step, event, step.payment.exposedBaseUnits)
  step.payment.exposedBaseUnits = 0n
}

function expectExposure(
  { payment, blame, deps }: Step,
  { exposedBaseUnits, mint }: Exposure,
  rightBaseUnits: bigint,
): void {
  if (exposedBaseUnits !== rightBaseUnits) {
    blame('exposure_differs', `${exposedBaseUnits} are recorded as exposed, and ${rightBaseUnits} change`)
  }
  if (deps.names.numberOf(mint) !== payment.mint) blame('owner_differs', 'another mint was paid')
}

function finalize(step: Step, event: PaymentEventOf<'PaymentFinalized'>): void {
  expectPhase(step, ['released', 'fulfilled', 'exhausted'])
  if (!step.payment.awaitsFinality) step.blame('lifecycle_impossible', 'it is final already')
  endExposure(step, event)
  step.payment.awaitsFinality = false
  step.payment.slot = event.slot
}

function reverse(step: Step, event: PaymentEventOf<'PaymentReversed'>): void {
  expectPhase(step, ['released', 'fulfilled', 'exhausted'])
  const { payment, blame, deps } = step
  if (!payment.awaitsFinality) blame('lifecycle_impossible', 'the chain cannot drop what is final')
  const owed = owedBy(payment)
  const isServed = payment.phase === phaseNumber('fulfilled')
  const burnOwed = payment.isBurnOwed ? payment.burnBaseUnits : 0n
  const right = [isServed ? 0n : owed, isServed ? owed : 0n, payment.overpaidBaseUnits, burnOwed]
  const found = [event.unearnedBaseUnits, event.lostBaseUnits, event.overpaidBaseUnits, event.burnOwedBaseUnits]
  if (found.join() !== right.join()) {
    blame('reversal_differs', `${found.join(' / ')} are taken back, and the payment was ${right.join(' / ')}`)
  }
  expectOwner(step, event)
  if (deps.names.numberOf(event.endpoint) !== payment.endpoint) blame('owner_differs', 'it was for another endpoint')
  endExposure(step, event)
  payment.phase = phaseNumber('reversed')
  payment.awaitsFinality = false
}

function refund(step: Step, event: PaymentEventOf<'RefundDue'>): void {
  expectPhase(step, ['released', 'exhausted'])
  const { payment, blame } = step
  if (payment.awaitsFinality) blame('lifecycle_impossible', 'only a final payment is refunded')
  const owed = owedBy(payment)
  if (event.refundBaseUnits !== owed) blame('refund_differs', `${event.refundBaseUnits} are owed back of ${owed}`)
  expectOwner(step, event)
  payment.phase = phaseNumber('refund_due')
}

function receive(step: Step, event: PaymentEventOf<'TransferReceived'>): void {
  expectPhase(step, ['unknown', 'submitted', 'reversed'])
  step.payment.slot = event.slot
  step.payment.phase = phaseNumber('unmatched')
}

function expectOwner(
  { payment, blame, deps }: Step,
  { wallet, mint }: { readonly wallet: string; readonly mint: string },
): void {
  if (deps.digest.of(wallet) !== payment.walletDigest) blame('owner_differs', 'another wallet had paid')
  if (deps.names.numberOf(mint) !== payment.mint) blame('owner_differs', 'another mint was paid')
}

/** Amount that has to be delivered or given back: everything that arrived for the price, and is not owed to be burned. */
function owedBy({ requiredBaseUnits, burnBaseUnits, isPaidWhole, isBurnOwed }: AuditedPayment): bigint {
  return isPaidWhole && !isBurnOwed ? requiredBaseUnits : requiredBaseUnits - burnBaseUnits
}
