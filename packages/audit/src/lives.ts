import type { PaymentEvent } from './auditedEvent.ts'
import type { FindingCode } from './findings.ts'
import { type Blame, judgePair, type LivesDeps, type Pair, pairOf, type Recorded, rules } from './lifeRules.ts'
import { type AuditedPayment, none } from './paymentTable.ts'

const signatureForm = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

/**
 * The life of every payment, lived again: submitted, verified and burned, claimed by attempts 1, 2, 3…, each released or
 * the last one fulfilled and distributed. What could not have happened is a finding, and the life goes on from what the
 * book says, so that one slip is not told as a hundred.
 */
export class Lives {
  readonly #deps: LivesDeps
  #pair: Pair | undefined
  /** The payment that is worked on: most events follow one of the same payment. */
  #stream = ''
  #index = none
  #payment: AuditedPayment | undefined

  constructor(deps: LivesDeps) {
    this.#deps = deps
  }

  get mayPause(): boolean {
    return this.#pair === undefined
  }

  /** The payment of the last event. */
  get payment(): AuditedPayment | undefined {
    return this.#payment
  }

  /** Gives the payment's number in the table. */
  advance(event: PaymentEvent, recorded: Recorded): number {
    const payment = this.#load(event, recorded)
    const blame = (code: FindingCode, message: string): void => {
      this.#deps.findings.add(code, { position: recorded.position, subject: event.stream, message })
    }
    const expected = payment.version + 1
    if (event.version > expected) {
      blame('version_missing', `version ${event.version} of the stream follows ${payment.version}`)
    } else if (event.version < expected) {
      blame('life_impossible', `version ${event.version} of the stream comes again after ${payment.version}`)
    }
    payment.version = event.version
    this.#closePair(event, recorded, blame)
    rules[event.kind]({ event, payment, recorded, blame, deps: this.#deps })
    this.#pair = pairOf(event, { payment, recorded, deps: this.#deps })
    payment.updatedAtMs = recorded.recordedAtMs
    payment.lastPosition = recorded.position
    return this.#index
  }

  /** An event that could not be read: whatever was to follow may have been it. */
  overlook(): void {
    this.#pair = undefined
  }

  /** Writes down what is known of the payment in hand. */
  park(): void {
    if (this.#payment !== undefined) this.#deps.payments.write(this.#index, this.#payment)
    this.#stream = ''
    this.#payment = undefined
  }

  /** The book ends here: what was to follow is missing. */
  settle(): void {
    this.park()
    if (this.#pair !== undefined) this.#miss(this.#pair)
    this.#pair = undefined
  }

  #load({ stream }: PaymentEvent, recorded: Recorded): AuditedPayment {
    const { payments, digest, findings } = this.#deps
    if (this.#payment !== undefined && stream === this.#stream) return this.#payment
    if (this.#payment !== undefined) payments.write(this.#index, this.#payment)
    const key = digest.pairOf(stream)
    const known = payments.find(key)
    const payment = known === undefined ? newPayment(key, recorded) : payments.read(known)
    this.#index = known ?? payments.insert(payment)
    this.#stream = stream
    this.#payment = payment
    if (known === undefined && !signatureForm.test(stream)) {
      const message = 'the stream of a payment is named by a signature'
      findings.add('life_impossible', { position: recorded.position, subject: stream, message })
    }
    return payment
  }

  #closePair(event: PaymentEvent, { position }: Recorded, blame: Blame): void {
    const pair = this.#pair
    const isSecond = event.kind === 'TokensBurned' || event.kind === 'DistributionAllocated'
    if (pair !== undefined && event.kind === pair.second && event.stream === pair.first.stream) {
      if (position !== pair.position + 1) blame('pair_incomplete', `it does not follow ${pair.first.kind} at once`)
      const wrong = judgePair(pair, event)
      if (wrong !== undefined) blame(event.kind === 'TokensBurned' ? 'burn_differs' : 'distribution_differs', wrong)
      return
    }
    if (pair !== undefined) this.#miss(pair)
    if (isSecond) blame('life_impossible', `${event.kind} does not follow the event that it belongs to`)
  }

  #miss({ first, second, position }: Pair): void {
    const message = `${second} does not follow ${first.kind}`
    this.#deps.findings.add('pair_incomplete', { position, subject: first.stream, message })
  }
}

function newPayment(key: readonly [number, number], { recordedAtMs, position }: Recorded): AuditedPayment {
  return {
    key,
    phase: 0,
    version: 0,
    attempt: 0,
    walletDigest: none,
    quoteDigest: none,
    attemptDigest: none,
    orderDigest: none,
    priceDigest: none,
    requiredBaseUnits: 0n,
    burnedBaseUnits: 0n,
    overpaidBaseUnits: 0n,
    blockTimeMs: none,
    slot: none,
    leaseUntilMs: none,
    createdAtMs: recordedAtMs,
    updatedAtMs: recordedAtMs,
    lastPosition: position,
    endpoint: 0,
    mint: 0,
    awaitsFinality: false,
    seen: false,
  }
}
