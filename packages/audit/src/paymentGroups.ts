import type { FindingCode } from './findings.ts'
import type { PaymentEvent, PaymentEventOf } from './paymentEvents.ts'
import { type AuditedPayment, phaseNumber } from './paymentTable.ts'
import type { LifecycleDeps, Recorded } from './paymentRules.ts'
import { isPaidWhole } from './postings.ts'
import { describeShares } from './priceReader.ts'

/* Events that one append writes together: the next one stands at the next position, and was recorded at the same time. */

/** An event of one of these kinds has to stand at the next position, because `first` requires it. */
export interface ExpectedEvent {
  readonly first: PaymentEvent
  readonly kinds: readonly PaymentEvent['kind'][]
  readonly recorded: Recorded
}

/** The event of the same payment that has to follow at once; undefined where the append may end. */
export function expectedAfter(
  event: PaymentEvent,
  payment: AuditedPayment,
  recorded: Recorded,
): ExpectedEvent | undefined {
  const kinds = kindsAfter(event, payment)
  return kinds.length === 0 ? undefined : { first: event, kinds, recorded }
}

function kindsAfter(event: PaymentEvent, payment: AuditedPayment): readonly PaymentEvent['kind'][] {
  if (event.kind === 'PaymentVerified') return [isPaidWhole(event.settlement) ? 'ProofClaimed' : 'TokensBurned']
  if (event.kind === 'TokensBurned') return ['ProofClaimed']
  if (event.kind === 'RequestFulfilled') return [payment.isPaidWhole ? 'BurnOwed' : 'DistributionAllocated']
  if (event.kind === 'BurnOwed') return ['DistributionAllocated']
  // A payment whose attempts are exhausted is owed back as soon as it is final.
  const isExhausted = payment.phase === phaseNumber('exhausted') && !payment.awaitsFinality
  if (isExhausted && (event.kind === 'AttemptsExhausted' || event.kind === 'PaymentFinalized')) return ['RefundDue']
  return event.kind === 'PaymentReversed' && !payment.isPaidWhole ? ['BurnReversed'] : []
}

/** Kinds that never begin an append. */
export const neverFirstKinds: ReadonlySet<string> = new Set<PaymentEvent['kind']>([
  'TokensBurned',
  'BurnOwed',
  'DistributionAllocated',
  'BurnReversed',
])

export interface EventProblem {
  readonly code: FindingCode
  readonly message: string
}

/** Error of an event that follows the one it belongs to, or undefined. */
export function findGroupProblem(
  { first }: ExpectedEvent,
  event: PaymentEvent,
  { payment, deps }: { readonly payment: AuditedPayment; readonly deps: LifecycleDeps },
): EventProblem | undefined {
  if (event.kind === 'TokensBurned' && first.kind === 'PaymentVerified') {
    const right = first.settlement.burnedBaseUnits
    const atMs = payment.blockTimeMs
    return burnDiffers(event, { foundBaseUnits: event.burnedBaseUnits, rightBaseUnits: right, payment, deps, atMs })
  }
  if (event.kind === 'BurnOwed') {
    // The moment of the delivery, which it belongs to.
    const atMs = first.effectiveAtMs
    const right = payment.burnBaseUnits
    return burnDiffers(event, { foundBaseUnits: event.owedBaseUnits, rightBaseUnits: right, payment, deps, atMs })
  }
  if (event.kind === 'BurnReversed') {
    return burnDiffers(event, {
      foundBaseUnits: event.burnedBaseUnits,
      rightBaseUnits: payment.burnedBaseUnits,
      payment,
      deps,
      // The totals of the hour of the payment go up, and down again.
      atMs: payment.blockTimeMs,
    })
  }
  return event.kind === 'DistributionAllocated' ? distributionDiffers(event, payment, deps) : undefined
}

function distributionDiffers(
  { mint, parts }: PaymentEventOf<'DistributionAllocated'>,
  payment: AuditedPayment,
  { names, digest }: LifecycleDeps,
): EventProblem | undefined {
  const code = 'distribution_differs'
  if (names.numberOf(mint) !== payment.mint) return { code, message: 'another mint was paid' }
  const text = describeShares(parts)
  if (digest.ofRecent(text) === payment.sharesDigest) return undefined
  return { code, message: `${text} are allocated, and the price divides otherwise` }
}

interface Burn {
  readonly foundBaseUnits: bigint
  readonly rightBaseUnits: bigint
  readonly payment: AuditedPayment
  readonly deps: LifecycleDeps
  /** Time at which it takes effect. */
  readonly atMs: number
}

function burnDiffers(
  event: PaymentEvent & { readonly mint: string; readonly endpoint: string },
  { foundBaseUnits: found, rightBaseUnits: right, payment, deps, atMs }: Burn,
): EventProblem | undefined {
  const code = 'burn_differs'
  if (found !== right) return { code, message: `${event.kind} of ${found}, and the payment's burn is ${right}` }
  if (deps.names.numberOf(event.mint) !== payment.mint) return { code, message: 'another mint was paid' }
  if (deps.names.numberOf(event.endpoint) !== payment.endpoint) {
    return { code, message: `it was paid for ${deps.names.nameOf(payment.endpoint)}` }
  }
  const isSameTime = event.effectiveAtMs === atMs
  return isSameTime ? undefined : { code, message: 'it took effect at another time than the event that it belongs to' }
}
