import type { PriceListEvent } from './auditedEvent.ts'

interface PriceList {
  readonly texts: ReadonlySet<string>
  /** When the next list was recorded; Infinity while there is none. */
  readonly supersededAtMs: number
}

export type PriceBookState = readonly { readonly texts: readonly string[]; readonly supersededAtMs: number | null }[]

// A quote lives for half a day at most, its payment may be presented half a day later, and clocks differ. A price of a
// list that was replaced longer ago was not offered to anybody who pays now.
const offeredForMs = 3 * 24 * 60 * 60 * 1000

/** The prices that may be charged at a moment: those of the list in force, and of lists that were so lately. */
export class PriceBook {
  #lists: PriceList[]

  constructor(state: PriceBookState = []) {
    this.#lists = state.map(({ texts, supersededAtMs }) => {
      return { texts: new Set(texts), supersededAtMs: supersededAtMs ?? Infinity }
    })
  }

  publish({ prices }: PriceListEvent, recordedAtMs: number): void {
    const before = this.#lists.map((list) =>
      list.supersededAtMs === Infinity ? { ...list, supersededAtMs: recordedAtMs } : list,
    )
    const kept = before.filter(({ supersededAtMs }) => supersededAtMs >= recordedAtMs - offeredForMs)
    this.#lists = [...kept, { texts: new Set(prices.map(({ text }) => text)), supersededAtMs: Infinity }]
  }

  offers(priceText: string, atMs: number): boolean {
    return this.#lists.some(
      ({ texts, supersededAtMs }) => supersededAtMs >= atMs - offeredForMs && texts.has(priceText),
    )
  }

  state(): PriceBookState {
    return this.#lists.map(({ texts, supersededAtMs }) => {
      return { texts: [...texts], supersededAtMs: supersededAtMs === Infinity ? null : supersededAtMs }
    })
  }
}
