import { type AuditedSplit, findShareProblem } from './auditedSplit.ts'
import type { AuditedPrice } from './priceReader.ts'
import type { SaltedDigest } from './saltedDigest.ts'
import type { PriceListEvent } from './settingEvents.ts'

interface PriceList {
  readonly number: number
  /** Digests of its prices. A list has about nine, so the lists of a year take a few megabytes. */
  readonly digests: readonly number[]
  readonly split: AuditedSplit
  /** When the next list was recorded; Infinity while there is none. */
  supersededAtMs: number
}

export type PublishedPricesState = readonly {
  readonly number: number
  readonly digests: readonly number[]
  /** Null: the split of the list before it. */
  readonly split: AuditedSplit | null
  readonly supersededAtMs: number | null
}[]

// A quote is valid for half a day at most, its payment may be presented half a day later, and clocks differ. A price of a
// list that was replaced longer ago was not offered to anyone who pays now.
const offeredForMs = 3 * 24 * 60 * 60 * 1000

/**
 * The prices that may be charged for a payment: those of the list that was in force when it landed, and of lists that were in
 * force shortly before. Every list is kept, because a payment that an outage delays is recorded long after it landed.
 */
export class PublishedPrices {
  readonly #digest: SaltedDigest
  readonly #lists: PriceList[] = []

  constructor(digest: SaltedDigest, state: PublishedPricesState = []) {
    this.#digest = digest
    for (const { number, digests, split, supersededAtMs } of state)
      this.#add({
        number,
        digests,
        split: split ?? this.#lists.at(-1)?.split ?? [],
        supersededAtMs: supersededAtMs ?? Infinity,
      })
  }

  publish({ prices, split }: PriceListEvent, { number, recordedAtMs }: Publication): void {
    const newest = this.#lists.at(-1)
    if (newest !== undefined) newest.supersededAtMs = recordedAtMs
    const digests = prices.map(({ text }) => this.#digest.of(text))
    this.#add({ number, digests, split, supersededAtMs: Infinity })
  }

  /** Digests of the prices of a list. Undefined for a number that no list has. */
  listOf(number: number): readonly number[] | undefined {
    return this.#lists.findLast((list) => list.number === number)?.digests
  }

  /** Whether a payment that landed at this time could have this price. */
  offers({ text }: AuditedPrice, landedAtMs: number): boolean {
    const digest = this.#digest.ofRecent(text)
    const oldestMs = landedAtMs - offeredForMs
    const list = this.#lists.findLast((each) => each.supersededAtMs < oldestMs || each.digests.includes(digest))
    return list !== undefined && list.supersededAtMs >= oldestMs
  }

  /** For a price that no list has: does it divide by none of the splits in force? The newest split names the difference. */
  findShareProblem(price: AuditedPrice, landedAtMs: number): string | undefined {
    const problems = this.#offered(landedAtMs).map(({ split }) => findShareProblem(price, split))
    return problems.includes(undefined) ? undefined : problems.at(0)
  }

  state(): PublishedPricesState {
    return this.#lists.map(({ number, digests, split, supersededAtMs }, index) => ({
      number,
      digests,
      split: split === this.#lists[index - 1]?.split ? null : split,
      supersededAtMs: supersededAtMs === Infinity ? null : supersededAtMs,
    }))
  }

  /** Lists share the object of an equal split. */
  #add(list: PriceList): void {
    const before = this.#lists.at(-1)?.split
    this.#lists.push(before !== undefined && isSameSplit(before, list.split) ? { ...list, split: before } : list)
  }

  /** Newest first. */
  #offered(landedAtMs: number): readonly PriceList[] {
    const oldest = this.#lists.findLastIndex(({ supersededAtMs }) => supersededAtMs < landedAtMs - offeredForMs)
    return this.#lists.slice(oldest + 1).toReversed()
  }
}

interface Publication {
  readonly number: number
  readonly recordedAtMs: number
}

function isSameSplit(one: AuditedSplit, other: AuditedSplit): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
