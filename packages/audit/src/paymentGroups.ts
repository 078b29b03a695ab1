import type { FindingCode } from './findings.ts'
import type { PaymentEvent, PaymentEventOf } from './paymentEvents.ts'
import { type AuditedPayment, phaseNumber } from './paymentTable.ts'
import type { LifecycleDeps, Recorded } from './paymentRules.ts'
import { owesBurn } from './postings.ts'
import { describeShares } from './priceReader.ts'

/* Events that one append writes together: the next one stands at the next position, and was recorded at the same time. */

/** The event that has to stand at the next position, with the one that requires it. */
export interface ExpectedEvent {
  readonly first: PaymentEvent
  readonly kind: PaymentEvent['kind']
  readonly recorded: Recorded
}

/** Which event of the same payment has to follow at once; undefined where the append may end. */
export function expectedAfter(
  event: PaymentEvent,
  payment: AuditedPayment,
  recorded: Recorded,
): ExpectedEvent | undefined {
  const kind = kindAfter(event, payment)
  return kind === undefined ? undefined : { first: event, kind, recorded }
}

function kindAfter(event: PaymentEvent, payment: AuditedPayment): PaymentEvent['kind'] | undefined {
  if (event.kind === 'PaymentVerified') return owesBurn(event.settlement) ? 'BurnOwed' : 'TokensBurned'
  if (event.kind === 'TokensBurned' || event.kind === 'BurnOwed') return 'ProofClaimed'
  if (event.kind === 'RequestFulfilled') return 'DistributionAllocated'
  // A payment whose attempts are exhausted is owed back as soon as it is final.
  const isExhausted = payment.phase === phaseNumber('exhausted') && !payment.awaitsFinality
  if (isExhausted && (event.kind === 'AttemptsExhausted' || event.kind === 'PaymentFinalized')) return 'RefundDue'
  return event.kind === 'PaymentReversed' && !payment.owesBurn ? 'BurnReversed' : undefined
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
    return burnDiffers(event, { foundBaseUnits: event.burnedBaseUnits, rightBaseUnits: right, payment, deps })
  }
  if (event.kind === 'BurnOwed' && first.kind === 'PaymentVerified') {
    const right = first.settlement.price.burnBaseUnits
    return burnDiffers(event, { foundBaseUnits: event.owedBaseUnits, rightBaseUnits: right, payment, deps })
  }
  if (event.kind === 'BurnReversed') {
    return burnDiffers(event, {
      foundBaseUnits: event.burnedBaseUnits,
      rightBaseUnits: payment.burnedBaseUnits,
      payment,
      deps,
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
}

function burnDiffers(
  event: PaymentEvent & { readonly mint: string; readonly endpoint: string },
  { foundBaseUnits: found, rightBaseUnits: right, payment, deps }: Burn,
): EventProblem | undefined {
  const code = 'burn_differs'
  if (found !== right) return { code, message: `${event.kind} of ${found}, and the payment's burn is ${right}` }
  if (deps.names.numberOf(event.mint) !== payment.mint) return { code, message: 'another mint was paid' }
  if (deps.names.numberOf(event.endpoint) !== payment.endpoint) {
    return { code, message: `it was paid for ${deps.names.nameOf(payment.endpoint)}` }
  }
  // The totals of the hour of the payment go up, and down again.
  const isSameTime = event.effectiveAtMs === payment.blockTimeMs
  return isSameTime ? undefined : { code, message: 'it took effect at another time than the payment' }
}
