import type { FindingCode } from './findings.ts'
import type { PaymentEvent } from './paymentEvents.ts'
import { type ExpectedEvent, expectedAfter, findGroupProblem, neverFirstKinds } from './paymentGroups.ts'
import { applyEvent, type Blame, type LifecycleDeps, type Recorded } from './paymentRules.ts'
import { type AuditedPayment, noValue } from './paymentTable.ts'
import { isSolanaStream } from './streamName.ts'

/**
 * The lifecycle of every payment, followed again from the first event: submitted, verified with its burn, claimed by
 * attempts 1, 2, 3…, each released or the last one fulfilled and distributed. An event that could not have happened is a
 * finding, and the lifecycle goes on from what the ledger says, so that one error is not reported a hundred times.
 */
export class PaymentLifecycles {
  readonly #deps: LifecycleDeps
  #expected: ExpectedEvent | undefined
  /** The payment in hand: most events follow one of the same payment. */
  #stream = ''
  #index = noValue
  #payment: AuditedPayment | undefined

  constructor(deps: LifecycleDeps) {
    this.#deps = deps
  }

  /** False in the middle of an append. */
  get mayPause(): boolean {
    return this.#expected === undefined
  }

  /** The payment's number in the table, and the position of its first event. */
  advance(event: PaymentEvent, recorded: Recorded): { readonly index: number; readonly firstPosition: number } {
    const payment = this.#load(event, recorded)
    const blame = (code: FindingCode, message: string): void => {
      this.#deps.findings.add(code, { position: recorded.position, subject: event.stream, message })
    }
    const expected = payment.version + 1
    if (event.version > expected) {
      blame('version_missing', `version ${event.version} of the stream follows ${payment.version}`)
    } else if (event.version < expected) {
      blame('lifecycle_impossible', `version ${event.version} of the stream comes again after ${payment.version}`)
    }
    payment.version = event.version
    this.#closeExpected(event, { payment, recorded, blame })
    applyEvent({ event, payment, recorded, blame, deps: this.#deps })
    this.#expected = expectedAfter(event, payment, recorded)
    payment.lastPosition = recorded.position
    return { index: this.#index, firstPosition: payment.firstPosition }
  }

  /** Called after an event that could not be read: it may have been the expected one. */
  overlook(): void {
    this.#expected = undefined
  }

  /** Writes the payment in hand to the table. */
  park(): void {
    if (this.#payment !== undefined) this.#deps.payments.write(this.#index, this.#payment)
    this.#stream = ''
    this.#payment = undefined
  }

  /** An event of another stream comes, or the end: an event that is still expected is missing. */
  settle(): void {
    this.park()
    if (this.#expected !== undefined) this.#miss(this.#expected)
    this.#expected = undefined
  }

  #load({ stream }: PaymentEvent, recorded: Recorded): AuditedPayment {
    const { payments, digest, findings } = this.#deps
    if (this.#payment !== undefined && stream === this.#stream) return this.#payment
    if (this.#payment !== undefined) payments.write(this.#index, this.#payment)
    const key = digest.pairOf(stream)
    const known = payments.find(key)
    const payment = known === undefined ? newPayment(key, recorded.position) : payments.read(known)
    this.#index = known ?? payments.insert(payment)
    this.#stream = stream
    this.#payment = payment
    if (known === undefined && !isSolanaStream(stream)) {
      const message = 'the stream of a payment is named by its reference'
      findings.add('lifecycle_impossible', { position: recorded.position, subject: stream, message })
    }
    return payment
  }

  #closeExpected(event: PaymentEvent, { payment, recorded, blame }: Applied): void {
    const expected = this.#expected
    if (expected !== undefined && expected.kinds.includes(event.kind) && event.stream === expected.first.stream) {
      if (recorded.position !== expected.recorded.position + 1) {
        blame('append_incomplete', `it does not follow ${expected.first.kind} at once`)
      } else if (recorded.recordedAtMs !== expected.recorded.recordedAtMs) {
        blame('append_incomplete', `it was recorded at another time than ${expected.first.kind}`)
      }
      const wrong = findGroupProblem(expected, event, { payment, deps: this.#deps })
      if (wrong !== undefined) blame(wrong.code, wrong.message)
      return
    }
    if (expected !== undefined) this.#miss(expected)
    if (neverFirstKinds.has(event.kind)) {
      blame('lifecycle_impossible', `${event.kind} does not follow the event that it belongs to`)
    }
  }

  #miss({ first, kinds, recorded }: ExpectedEvent): void {
    const message = `${kinds.join(' or ')} does not follow ${first.kind}`
    this.#deps.findings.add('append_incomplete', { position: recorded.position, subject: first.stream, message })
  }
}

interface Applied {
  readonly payment: AuditedPayment
  readonly recorded: Recorded
  readonly blame: Blame
}

function newPayment(key: readonly [number, number], firstPosition: number): AuditedPayment {
  return {
    key,
    firstPosition,
    phase: 0,
    version: 0,
    attempt: 0,
    walletDigest: noValue,
    quoteDigest: noValue,
    attemptDigest: noValue,
    orderDigest: noValue,
    priceDigest: noValue,
    sharesDigest: noValue,
    requiredBaseUnits: 0n,
    burnBaseUnits: 0n,
    burnedBaseUnits: 0n,
    overpaidBaseUnits: 0n,
    exposedBaseUnits: 0n,
    blockTimeMs: noValue,
    slot: noValue,
    leaseMs: 0,
    leaseUntilMs: noValue,
    lastPosition: firstPosition,
    endpoint: 0,
    mint: 0,
    isPaidWhole: false,
    isBurnOwed: false,
    awaitsFinality: false,
    seen: false,
  }
}
