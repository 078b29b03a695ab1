import { invariant } from './invariant.ts'

/*
 * State of each payment: 168 bytes in typed arrays and a slot of 4 to 8, because there is one payment for every
 * few events and an object takes five times that. Pages never move, so growing copies nothing.
 */

export const phases = [
  'unknown',
  'submitted',
  'verified',
  'claimed',
  'streaming',
  'released',
  'fulfilled',
  'exhausted',
  'refund_due',
  'reversed',
  'unmatched',
] as const
export type Phase = (typeof phases)[number]

export function phaseNumber(phase: Phase): number {
  return phases.indexOf(phase)
}

/** The state of the payment's stream. Phases that exist before and after finality say so. */
export function stateOf({ phase, awaitsFinality }: AuditedPayment): string {
  const name = phases[phase] ?? 'unknown'
  return !awaitsFinality && phasesWithFinality.has(name) ? `${name}.final` : name
}

const phasesWithFinality: ReadonlySet<Phase> = new Set<Phase>(['claimed', 'streaming', 'released', 'fulfilled'])

/** Stands for a time or digest that a payment does not have. */
export const noValue = -1

/** A payment while its events are applied. Names are salted digests. */
export interface AuditedPayment {
  readonly key: readonly [number, number]
  readonly firstPosition: number
  phase: number
  version: number
  attempt: number
  walletDigest: number
  quoteDigest: number
  /** Digests of the live attempt's id and of its order. */
  attemptDigest: number
  orderDigest: number
  priceDigest: number
  /** Digest of the shares among which the price is divided. */
  sharesDigest: number
  requiredBaseUnits: bigint
  /** The burn of the price; owed by the service or burned by the payer. */
  burnBaseUnits: bigint
  /** Burned by the payer inside the payment. */
  burnedBaseUnits: bigint
  overpaidBaseUnits: bigint
  /** Price of an answer that was or is being delivered, while the chain could still drop the payment. */
  exposedBaseUnits: bigint
  /** Time of the block in which it was verified, and the slot in which it was found last. */
  blockTimeMs: number
  slot: number
  leaseMs: number
  leaseUntilMs: number
  lastPosition: number
  endpoint: number
  mint: number
  /** The payer sent the whole price: the service makes the burn. */
  isPaidWhole: boolean
  /** `BurnOwed` is on record. */
  isBurnOwed: boolean
  /** The chain may still drop it. */
  awaitsFinality: boolean
  /** The payment's row has been compared. */
  seen: boolean
}

const fields = 21
const perPage = 4_096
const bytesPerPage = perPage * fields * 8
const slotsMin = 1 << 16
// Open addressing: beyond two thirds full, lookups become long.
const fullShare = 2 / 3
// An endpoint or a mint is a number below 2^20; the phase takes 4 bits and the four marks one each.
const nameBits = 2 ** 20
const phaseBits = 2 ** 8
const [burnOwedMark, paidWholeMark, awaitsMark, seenMark] = [8, 4, 2, 1]

/**
 * All payments in pages of numbers, without an object each: a ledger
 * has millions, and the pages are saved as they are.
 */
export class PaymentTable {
  readonly #pages: Page[] = []
  #slots = new Uint32Array(slotsMin)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Undefined when the payment is not known. */
  find([one, other]: readonly [number, number]): number | undefined {
    const mask = this.#slots.length - 1
    for (let slot = (one >>> 0) & mask; ; slot = (slot + 1) & mask) {
      const index = (this.#slots[slot] ?? 0) - 1
      if (index < 0) return undefined
      const { numbers, base } = this.#locate(index)
      if (numbers[base] === one && numbers[base + 1] === other) return index
    }
  }

  insert(payment: AuditedPayment): number {
    const index = this.#count++
    if (index % perPage === 0) this.#pages.push(newPage())
    if (this.#count > this.#slots.length * fullShare) this.#growSlots()
    this.write(index, payment)
    this.#fillSlot(payment.key[0], index)
    return index
  }

  read(index: number): AuditedPayment {
    const { numbers, amounts, base } = this.#locate(index)
    const at = (field: number): number => numbers[base + field] ?? 0
    const packed = at(12)
    const low = packed % (nameBits * phaseBits)
    return {
      key: [at(0), at(1)],
      walletDigest: at(2),
      quoteDigest: at(3),
      attemptDigest: at(4),
      priceDigest: at(5),
      requiredBaseUnits: amounts[base + 6] ?? 0n,
      leaseUntilMs: at(7),
      firstPosition: at(8),
      lastPosition: at(9),
      sharesDigest: at(10),
      version: Math.floor(at(11) / nameBits),
      attempt: at(11) % nameBits,
      mint: Math.floor(packed / (nameBits * phaseBits)),
      endpoint: Math.floor(low / phaseBits),
      phase: (low % phaseBits) >> 4,
      isPaidWhole: (low & paidWholeMark) !== 0,
      isBurnOwed: (low & burnOwedMark) !== 0,
      awaitsFinality: (low & awaitsMark) !== 0,
      seen: (low & seenMark) !== 0,
      orderDigest: at(13),
      burnedBaseUnits: amounts[base + 14] ?? 0n,
      overpaidBaseUnits: amounts[base + 15] ?? 0n,
      blockTimeMs: at(16),
      slot: at(17),
      burnBaseUnits: amounts[base + 18] ?? 0n,
      exposedBaseUnits: amounts[base + 19] ?? 0n,
      leaseMs: at(20),
    }
  }

  write(index: number, payment: AuditedPayment): void {
    const { numbers, amounts, base } = this.#locate(index)
    numbers[base] = payment.key[0]
    numbers[base + 1] = payment.key[1]
    numbers[base + 2] = payment.walletDigest
    numbers[base + 3] = payment.quoteDigest
    numbers[base + 4] = payment.attemptDigest
    numbers[base + 5] = payment.priceDigest
    amounts[base + 6] = payment.requiredBaseUnits
    numbers[base + 7] = payment.leaseUntilMs
    numbers[base + 8] = payment.firstPosition
    numbers[base + 9] = payment.lastPosition
    numbers[base + 10] = payment.sharesDigest
    numbers[base + 11] = payment.version * nameBits + (payment.attempt % nameBits)
    numbers[base + 13] = payment.orderDigest
    amounts[base + 14] = payment.burnedBaseUnits
    amounts[base + 15] = payment.overpaidBaseUnits
    numbers[base + 16] = payment.blockTimeMs
    numbers[base + 17] = payment.slot
    amounts[base + 18] = payment.burnBaseUnits
    amounts[base + 19] = payment.exposedBaseUnits
    numbers[base + 20] = payment.leaseMs
    const { isPaidWhole, isBurnOwed, awaitsFinality, seen } = payment
    const burnMarks = (isBurnOwed ? burnOwedMark : 0) + (isPaidWhole ? paidWholeMark : 0)
    const marks = burnMarks + (awaitsFinality ? awaitsMark : 0) + (seen ? seenMark : 0)
    const low = payment.endpoint * phaseBits + payment.phase * 16 + marks
    numbers[base + 12] = payment.mint * nameBits * phaseBits + low
  }

  /** Finds the payments of a quote by its digest. */
  indexByQuote(): (quoteDigest: number) => readonly number[] {
    const slots = new Uint32Array(this.#slots.length)
    const mask = slots.length - 1
    const quoteOf = (index: number): number => {
      const { numbers, base } = this.#locate(index)
      return numbers[base + 3] ?? noValue
    }
    for (let index = 0; index < this.#count; index++) {
      const quote = quoteOf(index)
      if (quote === noValue) continue
      let slot = (quote >>> 0) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = index + 1
    }
    return (quoteDigest) => {
      const found: number[] = []
      for (let slot = (quoteDigest >>> 0) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const index = (slots[slot] ?? 0) - 1
        if (quoteOf(index) === quoteDigest) found.push(index)
      }
      return found
    }
  }

  /** The pages as bytes, for the file of a resumed audit. */
  *bytes(): Iterable<Uint8Array> {
    for (const { numbers } of this.#pages) yield new Uint8Array(numbers.buffer)
  }

  static readonly pageBytes = bytesPerPage

  static restore(count: number, pages: Iterable<Uint8Array>): PaymentTable {
    const table = new PaymentTable()
    for (const bytes of pages) {
      const page = newPage()
      new Uint8Array(page.numbers.buffer).set(bytes)
      table.#pages.push(page)
    }
    invariant(table.#pages.length === Math.ceil(count / perPage), 'there are as many pages as the payments fill')
    table.#count = count
    while (count > table.#slots.length * fullShare) table.#slots = new Uint32Array(table.#slots.length * 2)
    table.#fillAll()
    return table
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2)
    this.#fillAll(this.#count - 1)
  }

  #fillAll(count = this.#count): void {
    for (let index = 0; index < count; index++) {
      const { numbers, base } = this.#locate(index)
      this.#fillSlot(numbers[base] ?? 0, index)
    }
  }

  #fillSlot(key: number, index: number): void {
    const mask = this.#slots.length - 1
    let slot = (key >>> 0) & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = index + 1
  }

  #locate(index: number): Page & { base: number } {
    const page = this.#pages[Math.floor(index / perPage)]
    invariant(page !== undefined, 'a payment that was inserted has a page')
    return { ...page, base: (index % perPage) * fields }
  }
}

/** Two views of the same bytes. */
interface Page {
  readonly numbers: Float64Array
  readonly amounts: BigUint64Array
}

function newPage(): Page {
  const buffer = new ArrayBuffer(bytesPerPage)
  return { numbers: new Float64Array(buffer), amounts: new BigUint64Array(buffer) }
}
