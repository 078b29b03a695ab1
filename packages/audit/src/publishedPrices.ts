import { z } from 'zod'
import type { AuditState, StateRow } from './auditState.ts'
import { baseUnits, usd } from './body.ts'
import type { AuditedPrice } from './price.ts'
import { divideRoundingUp } from './rounding.ts'
import { type AuditedSplit, type DividedPrice, dollarSplit, findShareProblem, split } from './split.ts'

export interface PublishedList {
  readonly number: number
  readonly split: AuditedSplit
  readonly splitOf: (mint: string) => AuditedSplit
  readonly prices: readonly AuditedPrice[]
  readonly metered: readonly MeteredEntry[]
  readonly recordedAtMs: number
}

/** Returns the burn in the service token for a part of a price in dollars, in proportion and rounded up. */
export function partOfBurn(burnBaseUnits: bigint, partBaseUnits: bigint, wholeBaseUnits: bigint): bigint {
  return divideRoundingUp(burnBaseUnits * partBaseUnits, wholeBaseUnits)
}

/** Metered price of an endpoint, in micro dollars per million units. */
export interface MeteredEntry {
  readonly endpoint: string
  readonly inputPerMillionMicroUsd: bigint
  readonly outputPerMillionMicroUsd: bigint
  readonly minimumMicroUsd: bigint
}

/** Metered price of an endpoint in one mint, with the largest hold that its price list permits. */
export type MeteredTerms = z.output<typeof meteredTerms>

const meteredTerms = z.object({
  inputPerMillionMicroUsd: usd,
  outputPerMillionMicroUsd: usd,
  minimumMicroUsd: usd,
  priceMicroUsd: usd,
  tokenPriceAttoUsd: usd,
  decimals: z.int(),
  requiredBaseUnits: baseUnits,
  tokenBurnMint: z.string(),
  tokenBurnBaseUnits: baseUnits,
  split,
})

export function readMetered(text: string): MeteredTerms {
  return meteredTerms.parse(JSON.parse(text))
}

// Accept prices of lists that were replaced at most three days before the payment. Earlier releases permitted half a
// day for a quote and half a day for its payment, and clocks differ.
const offeredForMs = 3 * 24 * 60 * 60 * 1000

const splitsQuery = `select split from lists where supersededAtMs is null or supersededAtMs >= ?
  group by split order by max(id) desc`

/**
 * Stores the published price lists and finds the prices that a payment may have. All lists are stored, because an
 * outage can delay the record of a payment.
 */
export class PublishedPrices {
  readonly #state: AuditState
  readonly #lastOffer: (...values: readonly (string | number)[]) => StateRow | undefined
  readonly #has: (...values: readonly (string | number)[]) => StateRow | undefined
  readonly #known: (number: number) => StateRow | undefined
  readonly #inForce: (...values: readonly number[]) => StateRow | undefined
  readonly #meteredOf: (...values: readonly (string | number)[]) => StateRow | undefined

  constructor(state: AuditState) {
    state.execute(`
      create table if not exists lists (id integer primary key, number, split, supersededAtMs);
      create index if not exists lists_by_number on lists (number);
      create table if not exists metered (number, endpoint, mint, terms, primary key (number, endpoint, mint)) without rowid;
      create table if not exists listed (price, list, primary key (price, list)) without rowid`)
    this.#state = state
    // Use the newest list that has the price, because it was in force last.
    this.#lastOffer = state.prepare(`select coalesce(supersededAtMs, 1e300) as untilMs from listed
      join lists on lists.id = listed.list where price = ? order by list desc limit 1`)
    this.#meteredOf = state.prepare('select terms from metered where number = ? and endpoint = ? and mint = ?')
    this.#known = state.prepare('select 1 from lists where number = ?')
    this.#inForce = state.prepare('select 1 from lists where number = ? and coalesce(supersededAtMs, 1e300) >= ?')
    this.#has = state.prepare(
      `select 1 from lists join listed on listed.list = lists.id where number = ? and price = ?`,
    )
  }

  publish({ number, split, splitOf, prices, metered, recordedAtMs }: PublishedList): void {
    this.#state.run('update lists set supersededAtMs = ? where supersededAtMs is null', recordedAtMs)
    this.#state.run('insert into lists (number, split) values (?, ?)', number, JSON.stringify(split))
    for (const entry of metered) {
      const { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd } = entry
      const byUse = { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd }
      for (const price of prices.filter((each) => each.endpoint === entry.endpoint && each.problem === undefined)) {
        const { endpoint, mint, priceMicroUsd, tokenPriceAttoUsd, decimals, requiredBaseUnits, tokenBurn } = price
        const burn = { tokenBurnMint: tokenBurn?.mint ?? '', tokenBurnBaseUnits: tokenBurn?.baseUnits ?? 0n }
        const hold = { priceMicroUsd, tokenPriceAttoUsd, decimals, requiredBaseUnits, ...burn }
        const terms: MeteredTerms = { ...byUse, ...hold, split: [...splitOf(mint)] }
        const text = JSON.stringify(terms, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
        this.#state.run('insert or ignore into metered values (?, ?, ?, ?)', number, endpoint, mint, text)
      }
    }
    for (const { digest } of prices)
      this.#state.run('insert or ignore into listed select ?, max(id) from lists', digest)
  }

  /**
   * Returns the metered price of an endpoint in the list with this number, as JSON text. Null if the list has no
   * metered price for it.
   */
  meteredOf(number: number, { endpoint, mint }: AuditedPrice): string | null {
    const row = this.#meteredOf(number, endpoint, mint)
    return row === undefined ? null : String(row['terms'])
  }

  /** Explains why a hold is invalid. Undefined if the list has a metered price that permits this hold. */
  findHoldProblem(number: number, held: AuditedPrice): string | undefined {
    const text = this.meteredOf(number, held)
    if (text === null) return 'it has no price by use'
    const listed = readMetered(text)
    if (listed.tokenPriceAttoUsd !== held.tokenPriceAttoUsd || listed.decimals !== held.decimals)
      return 'it is held at another token price'
    if (held.priceMicroUsd > listed.priceMicroUsd) return 'more is held than its price'
    const { mint = '', baseUnits: foundBaseUnits = 0n } = held.tokenBurn ?? {}
    const rightBaseUnits = partOfBurn(listed.tokenBurnBaseUnits, held.requiredBaseUnits, listed.requiredBaseUnits)
    if (mint !== listed.tokenBurnMint || foundBaseUnits !== rightBaseUnits)
      return `its burn in tokens is ${foundBaseUnits}, not ${rightBaseUnits}`
    return findShareProblem(held, listed.split)
  }

  knows(number: number): boolean {
    return this.#known(number) !== undefined
  }

  /** False if the list was never published, or was replaced more than `offeredForMs` before this time. */
  isInForce(number: number, atMs: number): boolean {
    return this.#inForce(number, atMs - offeredForMs) !== undefined
  }

  /** True if the list has the price with this digest. */
  has(number: number, price: string): boolean {
    return this.#has(number, price) !== undefined
  }

  offers({ digest }: AuditedPrice, landedAtMs: number): boolean {
    return Number(this.#lastOffer(digest)?.['untilMs'] ?? -Infinity) >= landedAtMs - offeredForMs
  }

  /**
   * Explains how the division of a price is wrong, by its difference from the newest split. Undefined if a split in
   * force divides the price like this, or if no split is known.
   */
  findShareProblem(price: DividedPrice, landedAtMs: number): string | undefined {
    let newest: string | undefined
    for (const { split } of this.#state.query(splitsQuery, landedAtMs - offeredForMs)) {
      const parsed: AuditedSplit = JSON.parse(String(split))
      const problem = findShareProblem(price, price.burnBaseUnits === 0n ? dollarSplit(parsed) : parsed)
      if (problem === undefined) return undefined
      newest ??= problem
    }
    return newest
  }
}
