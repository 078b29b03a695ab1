import { type AuditedSplit, findShareProblem } from './auditedSplit.ts'
import type { AuditedPrice } from './priceReader.ts'
import type { PriceListEvent } from './settingEvents.ts'

interface PriceList {
  readonly number: number
  readonly texts: ReadonlySet<string>
  readonly split: AuditedSplit
  /** When the next list was recorded; Infinity while there is none. */
  readonly supersededAtMs: number
}

export type PublishedPricesState = readonly {
  readonly number: number
  readonly texts: readonly string[]
  readonly split: AuditedSplit
  readonly supersededAtMs: number | null
}[]

// A quote is valid for half a day at most, its payment may be presented half a day later, and clocks differ. A price of a
// list that was replaced longer ago was not offered to anyone who pays now.
const offeredForMs = 3 * 24 * 60 * 60 * 1000

/** The prices that may be charged at a moment: those of the list in force, and of lists that were in force lately. */
export class PublishedPrices {
  #lists: PriceList[]

  constructor(state: PublishedPricesState = []) {
    this.#lists = state.map(({ number, texts, split, supersededAtMs }) => {
      return { number, texts: new Set(texts), split, supersededAtMs: supersededAtMs ?? Infinity }
    })
  }

  publish({ prices, split }: PriceListEvent, { number, recordedAtMs }: Publication): void {
    const before = this.#lists.map((list) =>
      list.supersededAtMs === Infinity ? { ...list, supersededAtMs: recordedAtMs } : list,
    )
    const recent = before.filter(({ supersededAtMs }) => supersededAtMs >= recordedAtMs - offeredForMs)
    const texts = new Set(prices.map(({ text }) => text))
    this.#lists = [...recent, { number, texts, split, supersededAtMs: Infinity }]
  }

  /** The prices of a list that was in force lately. */
  listOf(number: number): ReadonlySet<string> | undefined {
    return this.#lists.find((list) => list.number === number)?.texts
  }

  offers({ text }: AuditedPrice, atMs: number): boolean {
    return this.#inForce(atMs).some(({ texts }) => texts.has(text))
  }

  /** For a price that no list has: does it divide by none of the splits in force? The newest split names the difference. */
  findShareProblem(price: AuditedPrice, atMs: number): string | undefined {
    const problems = this.#inForce(atMs).map(({ split }) => findShareProblem(price, split))
    return problems.includes(undefined) ? undefined : problems.at(-1)
  }

  state(): PublishedPricesState {
    return this.#lists.map(({ number, texts, split, supersededAtMs }) => {
      return { number, texts: [...texts], split, supersededAtMs: supersededAtMs === Infinity ? null : supersededAtMs }
    })
  }

  #inForce(atMs: number): readonly PriceList[] {
    return this.#lists.filter(({ supersededAtMs }) => supersededAtMs >= atMs - offeredForMs)
  }
}

interface Publication {
  readonly number: number
  readonly recordedAtMs: number
}
