import { assert } from '@tollbook/core/assert'

/*
 * What an audit remembers of each payment, in 144 bytes and a slot of 4 to 8, because there is one for every few events
 * and an object takes five times that. Pages never move, so growing copies nothing.
 */

export const phases = [
  'unknown',
  'submitted',
  'verified',
  'claimed',
  'released',
  'fulfilled',
  'refund_due',
  'reversed',
  'unmatched',
] as const
export type Phase = (typeof phases)[number]

export function phaseNumber(phase: Phase): number {
  return phases.indexOf(phase)
}

/** Where a payment has no such time or digest. */
export const none = -1

/** A payment while it is worked on. Names are salted digests. */
export interface AuditedPayment {
  readonly key: readonly [number, number]
  phase: number
  version: number
  attempt: number
  walletDigest: number
  quoteDigest: number
  /** Of the live attempt's id, and of what it ordered. */
  attemptDigest: number
  orderDigest: number
  priceDigest: number
  requiredBaseUnits: bigint
  burnedBaseUnits: bigint
  overpaidBaseUnits: bigint
  /** Of the block that it was verified in, and the slot that it was found in last. */
  blockTimeMs: number
  slot: number
  leaseUntilMs: number
  createdAtMs: number
  updatedAtMs: number
  lastPosition: number
  endpoint: number
  mint: number
  /** The chain may still drop it. */
  awaitsFinality: boolean
  /** The payment's row has been compared. */
  seen: boolean
}

const fields = 18
const perPage = 4_096
const bytesPerPage = perPage * fields * 8
const slotsMin = 1 << 16
// Open addressing: beyond two thirds full, look-ups become long.
const fullShare = 2 / 3
// An endpoint or a mint is a number below 2^20; the phase takes 4 bits and the two marks one each.
const nameBits = 2 ** 20
const phaseBits = 2 ** 6

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
      burnedBaseUnits: amounts[base + 14] ?? 0n,
      overpaidBaseUnits: amounts[base + 15] ?? 0n,
      blockTimeMs: at(16),
      slot: at(17),
      leaseUntilMs: at(7),
      createdAtMs: at(8),
      updatedAtMs: at(9),
      lastPosition: at(10),
      orderDigest: at(13),
      version: Math.floor(at(11) / nameBits),
      attempt: at(11) % nameBits,
      mint: Math.floor(packed / (nameBits * phaseBits)),
      endpoint: Math.floor(low / phaseBits),
      phase: (low % phaseBits) >> 2,
      awaitsFinality: (low & 2) !== 0,
      seen: low % 2 === 1,
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
    numbers[base + 8] = payment.createdAtMs
    numbers[base + 9] = payment.updatedAtMs
    numbers[base + 10] = payment.lastPosition
    numbers[base + 13] = payment.orderDigest
    numbers[base + 11] = payment.version * nameBits + (payment.attempt % nameBits)
    amounts[base + 14] = payment.burnedBaseUnits
    amounts[base + 15] = payment.overpaidBaseUnits
    numbers[base + 16] = payment.blockTimeMs
    numbers[base + 17] = payment.slot
    const marks = (payment.awaitsFinality ? 2 : 0) + (payment.seen ? 1 : 0)
    const low = payment.endpoint * phaseBits + payment.phase * 4 + marks
    numbers[base + 12] = payment.mint * nameBits * phaseBits + low
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
    assert(table.#pages.length === Math.ceil(count / perPage), 'there are as many pages as the payments fill')
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
    assert(page !== undefined, 'a payment that was inserted has a page')
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
