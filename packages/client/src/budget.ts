import { assert } from '@tollbook/core/assert'
import { InvalidOption } from './errorCode.ts'
import {
  type Allowance,
  type Cost,
  type Excess,
  findExcess,
  readCeiling,
  type SpendingLimit,
  SpendingLimitExceeded,
  type SpendingScope,
} from './spendingLimit.ts'

export interface Spending extends Cost {
  readonly host: string
  readonly atMs: number
  /** True for a deposit, to which the limit per request does not apply. */
  readonly isDeposit?: boolean
}

export type Budget = ReturnType<typeof createBudget>

export interface Reservation {
  /** Subtracts the amount from the budget's spending. Call it only if the payment was not sent, or can no longer land. */
  release(): void
}

const dayMs = 24 * 60 * 60 * 1000

interface Scope {
  readonly name: SpendingScope
  readonly allowed: Allowance
  readonly counts: (earlier: Spending, asked: Spending) => boolean
}

const limitNames = new Set(['perRequest', 'perDay', 'day', 'perHost', 'total'])

export function createBudget(limit: SpendingLimit) {
  requireBound(limit)
  const scopes = scopesOf(limit)
  const spent = new Set<Spending>()
  const findExcessAfter = (asked: Spending, spent: readonly Spending[]): Excess | undefined => {
    for (const { name, allowed, counts } of scopes) {
      if (asked.isDeposit === true && name === 'per request') continue
      const sum = sumOf(spent.filter((earlier) => counts(earlier, asked)))
      const excess = findExcess(asked, { scope: name, allowed, spent: sum })
      if (excess !== undefined) return excess
    }
    return undefined
  }
  return {
    /** Returns the first limit that the payment exceeds after the earlier payments. Ignores all reservations. */
    findExcess: findExcessAfter,
    /**
     * Counts the payment as spent, or throws `SpendingLimitExceeded`. Check and count are one step, so that two
     * concurrent requests cannot both use the remainder of a limit. `byOthers` is added for this check only.
     */
    reserve(asked: Spending, byOthers: readonly Spending[] = []): Reservation {
      const excess = findExcessAfter(asked, [...spent, ...byOthers])
      if (excess !== undefined) throw new SpendingLimitExceeded(excess)
      // Copy the object, because the set would count the same object only once.
      const spending = { ...asked }
      spent.add(spending)
      return { release: () => assert(spent.delete(spending), 'a reservation is released once') }
    },
  }
}

/** Callers in JavaScript have no types. Without a limit, or with one of a mistyped name, spending would have no bound. */
function requireBound(limit: Partial<SpendingLimit>): void {
  if (limit.perRequest === undefined) throw new InvalidOption("spendingLimit needs perRequest, such as { usd: '0.05' }")
  const unknown = Object.keys(limit).find((name) => !limitNames.has(name))
  if (unknown !== undefined)
    throw new InvalidOption(`spendingLimit has ${unknown}, which is none of ${[...limitNames].join(', ')}`)
}

function scopesOf({ perRequest, perDay, day, perHost, total }: SpendingLimit): readonly Scope[] {
  const scope = (name: SpendingScope, ceiling: SpendingLimit['total'], counts: Scope['counts']): readonly Scope[] =>
    ceiling === undefined ? [] : [{ name, allowed: readCeiling(ceiling), counts }]
  return [
    ...scope('per request', perRequest, () => false),
    // Count payments with a time in the future too, because the clock may have been set back after them.
    ...scope('per day', perDay, (earlier, { atMs }) =>
      day === 'utc' ? earlier.atMs >= atMs - (atMs % dayMs) : earlier.atMs > atMs - dayMs,
    ),
    ...scope('per host', perHost, (earlier, { host }) => earlier.host === host),
    ...scope('in total', total, () => true),
  ]
}

function sumOf(spendings: readonly Spending[]): Cost {
  let [attoUsd, baseUnits] = [0n, 0n]
  for (const spending of spendings) {
    attoUsd += spending.attoUsd
    baseUnits += spending.baseUnits
  }
  return { attoUsd, baseUnits }
}
