import { assert } from '@tollbook/core/assert'
import { formatDecimal, parseDecimal } from '@tollbook/core/money'

/**
 * Limit of spending. The price in US dollars and the price of the token are both the service's own statements. A
 * ceiling in
 * base units needs no trust but applies to one token only, so it requires `expectedMint`.
 */
export interface SpendingLimit {
  readonly perRequest: Ceiling
  /** Total over the lifetime of one paying fetch. Everything signed counts, whatever its outcome. */
  readonly total?: Ceiling
}

/** US dollars as a plain decimal, for example `'0.05'`, base units of the token, or both. */
export type Ceiling =
  | { readonly usd: string; readonly baseUnits?: bigint }
  | { readonly usd?: string; readonly baseUnits: bigint }

/** Amount that a payment takes from the wallet. */
export interface Cost {
  readonly attoUsd: bigint
  readonly baseUnits: bigint
}

export const attoUsdScale = 18

/** The quote asks for more than the payer allows. Nothing was signed. */
export class SpendingLimitExceeded extends Error {
  override readonly name = 'SpendingLimitExceeded'
  readonly scope: 'per request' | 'in total'
  readonly unit: 'USD' | 'base units'
  readonly asked: string
  readonly allowed: string

  constructor({ scope, unit, asked, allowed }: Excess) {
    super(
      `the quote asks ${asked} ${unit}, and the spending limit leaves ${allowed} ${unit} ${scope}; nothing was signed`,
    )
    this.scope = scope
    this.unit = unit
    this.asked = asked
    this.allowed = allowed
  }
}

interface Excess {
  readonly scope: 'per request' | 'in total'
  readonly unit: 'USD' | 'base units'
  readonly asked: string
  readonly allowed: string
}

export interface Budget {
  /** Counts the cost as spent, or throws `SpendingLimitExceeded`. In one step, so that two requests cannot both fit. */
  reserve(cost: Cost): Reservation
}

export interface Reservation {
  /** Only when nothing signed has left the payer. */
  release(): void
}

export function createBudget(limit: SpendingLimit): Budget {
  const perRequest = readCeiling(limit.perRequest)
  const total = limit.total === undefined ? {} : readCeiling(limit.total)
  let spent: Cost = { attoUsd: 0n, baseUnits: 0n }
  return {
    reserve(cost) {
      const excess = findExcess(cost, perRequest, 'per request') ?? findExcess(cost, less(total, spent), 'in total')
      if (excess !== undefined) throw new SpendingLimitExceeded(excess)
      spent = { attoUsd: spent.attoUsd + cost.attoUsd, baseUnits: spent.baseUnits + cost.baseUnits }
      let released = false
      return {
        release() {
          assert(!released, 'a reservation is released once')
          released = true
          spent = { attoUsd: spent.attoUsd - cost.attoUsd, baseUnits: spent.baseUnits - cost.baseUnits }
        },
      }
    },
  }
}

/** Undefined means no limit in that unit. */
interface Allowance {
  readonly attoUsd?: bigint
  readonly baseUnits?: bigint
}

function readCeiling({ usd, baseUnits }: Ceiling): Allowance {
  const attoUsd = usd === undefined ? undefined : parseDecimal(usd, attoUsdScale)
  if (usd !== undefined && attoUsd === undefined) {
    throw new TypeError(`a spending limit in USD is a plain decimal such as '0.05', not '${usd}'`)
  }
  if (attoUsd === undefined && baseUnits === undefined) {
    throw new TypeError('a spending limit names USD, base units or both')
  }
  return { ...(attoUsd === undefined ? {} : { attoUsd }), ...(baseUnits === undefined ? {} : { baseUnits }) }
}

function less({ attoUsd, baseUnits }: Allowance, spent: Cost): Allowance {
  return {
    ...(attoUsd === undefined ? {} : { attoUsd: attoUsd - spent.attoUsd }),
    ...(baseUnits === undefined ? {} : { baseUnits: baseUnits - spent.baseUnits }),
  }
}

function findExcess(cost: Cost, allowed: Allowance, scope: Excess['scope']): Excess | undefined {
  if (allowed.attoUsd !== undefined && cost.attoUsd > allowed.attoUsd) {
    const [asked, left] = [cost.attoUsd, allowed.attoUsd].map((amount) => formatDecimal(amount, attoUsdScale))
    return { scope, unit: 'USD', asked: asked ?? '', allowed: left ?? '' }
  }
  if (allowed.baseUnits !== undefined && cost.baseUnits > allowed.baseUnits) {
    return { scope, unit: 'base units', asked: cost.baseUnits.toString(), allowed: allowed.baseUnits.toString() }
  }
  return undefined
}
