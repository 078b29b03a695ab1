import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { docsOf, InvalidOption } from './errorCode.ts'

/**
 * Spending limits. The service states the price in US dollars and the price of the token. A ceiling in base units does
 * not depend on these statements, but applies to one token only, so it requires `expectedMint`.
 */
export interface SpendingLimit {
  readonly perRequest: Ceiling
  /** Limit within the period that `day` states, summed over all hosts. */
  readonly perDay?: Ceiling
  /** Period of `perDay`. `utc`: each day from midnight UTC. Default: any 24 hours. */
  readonly day?: 'any 24 hours' | 'utc'
  /** Limit for each host, over the whole lifetime. */
  readonly perHost?: Ceiling
  /** Limit of all payments. Every signed payment counts, except a payment that can no longer move tokens. */
  readonly total?: Ceiling
}

export type SpendingScope = 'per request' | 'per day' | 'per host' | 'in total'

/** A ceiling in US dollars as a plain decimal such as `'0.05'`, in base units of the token, or in both. */
export type Ceiling =
  | { readonly usd: string; readonly baseUnits?: bigint }
  | { readonly usd?: string; readonly baseUnits: bigint }

export interface Cost {
  readonly attoUsd: bigint
  readonly baseUnits: bigint
}

export const attoUsdScale = 18

/** The payment exceeds a spending limit. It was not sent. */
export class SpendingLimitExceeded extends Error {
  override readonly name = 'SpendingLimitExceeded'
  readonly code = 'SPENDING_LIMIT_EXCEEDED'
  readonly docs = docsOf('SPENDING_LIMIT_EXCEEDED')
  readonly scope: SpendingScope
  readonly unit: 'USD' | 'base units'
  readonly asked: string
  readonly allowed: string

  constructor({ scope, unit, asked, allowed }: Excess, outcome = 'nothing was signed') {
    super(`the quote asks ${asked} ${unit}, and the spending limit leaves ${allowed} ${unit} ${scope}; ${outcome}`)
    this.scope = scope
    this.unit = unit
    this.asked = asked
    this.allowed = allowed
  }
}

/** Amounts are decimal texts in `unit`. */
export interface Excess {
  readonly scope: SpendingScope
  readonly unit: 'USD' | 'base units'
  readonly asked: string
  readonly allowed: string
}

export interface Allowance {
  readonly attoUsd: bigint | undefined
  readonly baseUnits: bigint | undefined
}

/** Throws `TypeError` if the ceiling is not a plain decimal, has no unit, or has an unknown one. */
export function readCeiling({ usd, baseUnits, ...others }: Ceiling): Allowance {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new InvalidOption(`a spending limit names usd and baseUnits, not ${unknown}`)
  const attoUsd = usd === undefined ? undefined : parseDecimal(usd, attoUsdScale)
  if (usd !== undefined && attoUsd === undefined) {
    throw new InvalidOption(`a spending limit in USD is a plain decimal such as '0.05', not '${usd}'`)
  }
  if (attoUsd === undefined && baseUnits === undefined) {
    throw new InvalidOption('a spending limit names USD, base units or both')
  }
  return { attoUsd, baseUnits }
}

interface LimitQuestion {
  readonly scope: SpendingScope
  readonly allowed: Allowance
  readonly spent: Cost
}

/** Finds the first unit in excess. The remaining limit is negative if the limit was lowered. */
export function findExcess(cost: Cost, { scope, allowed, spent }: LimitQuestion): Excess | undefined {
  const excessIn = (unit: Excess['unit'], member: keyof Cost, scale: number): Excess | undefined => {
    const limit = allowed[member]
    if (limit === undefined || cost[member] <= limit - spent[member]) return undefined
    const [asked, left] = [cost[member], limit - spent[member]].map((each) => formatDecimal(each, scale))
    return { scope, unit, asked: asked ?? '', allowed: left ?? '' }
  }
  return excessIn('USD', 'attoUsd', attoUsdScale) ?? excessIn('base units', 'baseUnits', 0)
}
