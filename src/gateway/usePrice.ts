import { assertNever } from '@tollbook/core/assert'
import { formatDecimal } from '@tollbook/core/money'
import { type MeteredPrice, outputWithin } from '../pricing/meteredPrice.ts'
import { type PricedVariant, usdDecimals } from '../pricing/priceList.ts'
import { hasOnlyJson, type RouteEntry, useByValue, type UseEntry, useShape } from './productsFile.ts'
import { type Checked, type FileMistake, type FilePath, mistakesOf, unknownName } from './fileMistake.ts'
import { hasJsonBody } from './routeRequest.ts'

/* Reads and checks the price by use of a route. Only tabs pay by use. */

export type UseUnit =
  /** Tokens of prompt and reply, for an API with OpenAI's wire format. */
  | { readonly kind: 'tokens' }
  | { readonly kind: 'bytes' }
  /** Rows of the answer: the items of an array, or a number that the answer states. */
  | { readonly kind: 'rows'; readonly pointer: readonly string[] }

export interface UsePrices {
  readonly unit: UseUnit
  readonly metered?: MeteredPrice
  readonly variants: readonly PricedVariant[]
}

interface FixedPrices {
  readonly priceMicroUsd: bigint
  readonly variants: readonly PricedVariant[]
}

interface UseQuestion {
  readonly use: unknown
  readonly isByValue: boolean
  readonly fixed: FixedPrices
}

/**
 * Reads the metered price of a route. If `isByValue`, `use` maps values of the route's `by` parameter to metered
 * prices. A value without one keeps only its fixed price.
 */
export function readUse({ use, isByValue, fixed }: UseQuestion, at: FilePath): Checked<UsePrices> {
  if (isByValue) return readByValue(use, fixed, at)
  const parsed = useShape.safeParse(use)
  if (!parsed.success) return { mistakes: mistakesOf(parsed.error, useShape, at) }
  const read = meteredOf(parsed.data, fixed.priceMicroUsd, at)
  return 'mistakes' in read ? read : { ...read, variants: fixed.variants }
}

function readByValue(use: unknown, { variants }: FixedPrices, at: FilePath): Checked<UsePrices> {
  const parsed = useByValue.safeParse(use)
  if (!parsed.success) return { mistakes: mistakesOf(parsed.error, useByValue, at) }
  const mistakes: FileMistake[] = []
  const read = new Map<string, UnitPrice>()
  const names = variants.map(({ name }) => name)
  for (const [name, entry] of Object.entries(parsed.data)) {
    const path = [...at, name]
    const price = variants.find((variant) => variant.name === name)
    if (price === undefined) {
      const hint = unknownName(name, names).replace('is not known', 'is not a value that `usd` lists')
      mistakes.push({ path, message: hint, isName: true })
      continue
    }
    const one = meteredOf(entry, price.priceMicroUsd, path)
    const [first] = read
    if ('mistakes' in one) mistakes.push(...one.mistakes)
    else if (first !== undefined && JSON.stringify(first[1].unit) !== JSON.stringify(one.unit))
      mistakes.push({ path, message: `counts other units than ${first[0]}; count the same units for all values` })
    else read.set(name, one)
  }
  const [first] = read.values()
  if (first === undefined && mistakes.length === 0) mistakes.push({ path: at, message: 'has no price; remove it' })
  if (first === undefined || mistakes.length > 0) return { mistakes }
  const withUse = variants.map((variant) => {
    const metered = read.get(variant.name)?.metered
    return metered === undefined ? variant : { ...variant, metered }
  })
  return { unit: first.unit, variants: withUse }
}

interface UnitPrice {
  readonly unit: UseUnit
  readonly metered: MeteredPrice
}

function meteredOf(entry: UseEntry, priceMicroUsd: bigint, at: FilePath): Checked<UnitPrice> {
  const refuse = (message: string, path = at) => ({ mistakes: [{ path, message }] })
  const priced = pricedUnit(entry)
  if (priced === undefined)
    return refuse('must have one of: input_per_million and output_per_million; per_million_bytes; rows and per_row')
  const { unit, ...rates } = priced
  const minimumMicroUsd = entry.minimum
  const metered = { ...rates, minimumMicroUsd }
  if (rates.inputPerMillionMicroUsd + rates.outputPerMillionMicroUsd === 0n)
    return refuse('costs nothing; raise a price')
  const usd = formatDecimal(priceMicroUsd, usdDecimals)
  const lower = `the price of a request, ${usd}; lower it, or raise \`usd\``
  // The minimum must not exceed the price of a request, because a tab holds that price, and a charge never exceeds the
  // hold.
  if (minimumMicroUsd > priceMicroUsd) return refuse(`is more than ${lower}`, [...at, 'minimum'])
  if (outputWithin(metered, { input: 0, budgetMicroUsd: priceMicroUsd }) === undefined)
    return refuse(`costs more for one unit than ${lower}`)
  return { unit, metered }
}

// Rows are priced by the million, as tokens are, so that ledger and audit need no other rule.
const million = 1_000_000n

interface PricedUnit extends Omit<MeteredPrice, 'minimumMicroUsd'> {
  readonly unit: UseUnit
}

/** Returns the unit of the entry and its prices. Undefined unless the entry has the complete prices of exactly one unit. */
function pricedUnit(entry: UseEntry): PricedUnit | undefined {
  const { input_per_million: input, output_per_million: output, per_million_bytes: bytes, rows, per_row: row } = entry
  const units: PricedUnit[] = []
  const price = (unit: UseUnit, outputPerMillionMicroUsd: bigint, inputPerMillionMicroUsd = 0n) =>
    void units.push({ unit, inputPerMillionMicroUsd, outputPerMillionMicroUsd })
  if (input !== undefined && output !== undefined) price({ kind: 'tokens' }, output, input)
  if (bytes !== undefined) price({ kind: 'bytes' }, bytes)
  if (rows !== undefined && row !== undefined) price({ kind: 'rows', pointer: rows }, row * million)
  const isHalf = (input === undefined) !== (output === undefined) || (rows === undefined) !== (row === undefined)
  return units.length === 1 && !isHalf ? units[0] : undefined
}

export function findUnitProblem({ kind }: UseUnit, route: RouteEntry): string | undefined {
  const isTool = route.tool !== undefined
  const hasJson = hasOnlyJson(route)
  switch (kind) {
    case 'tokens':
      return isTool || !hasJsonBody(route) || !hasJson
        ? 'counts tokens, which needs a JSON body as OpenAI names it and JSON answers; use `per_million_bytes` or `rows`'
        : undefined
    case 'bytes':
      return isTool || route.answer === 'envelope' ? 'counts bytes, which needs an answer `as_is` of an API' : undefined
    case 'rows':
      return (isTool || hasJson) && route.stream === 'never'
        ? undefined
        : 'counts rows, which needs whole JSON answers; remove `stream`, or name JSON types only'
    default:
      return assertNever(kind)
  }
}
