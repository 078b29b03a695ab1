import type { MeteredPrice } from '../pricing/meteredPrice.ts'
import type { PricedVariant } from '../pricing/priceList.ts'
import type { Checked, FileMistake, FilePath } from './fileMistake.ts'
import { memberOf } from './judgeAnswer.ts'
import { isSchema, type Schema } from './parameterSchema.ts'
import type { Parameters } from './checkParameters.ts'
import type { PriceEntry } from './productsFile.ts'
import { readUse, type UseUnit } from './usePrice.ts'

/** The prices of a route. Each price that an order can have is an entry of the price list. */
export interface RoutePrices {
  readonly priceMicroUsd: bigint
  readonly variants: readonly PricedVariant[]
  /** Price by use of the route itself. Variants have separate prices by use. */
  readonly metered?: MeteredPrice
  /** The unit that prices by use count. Undefined: the route has no price by use. */
  readonly unit?: UseUnit
  /** Undefined: the order has the price of the route itself. */
  variantOf(order: Parameters): string | undefined
}

type ReadPrices = Checked<{ readonly prices: RoutePrices }>

/** Reads the prices of a route. Each order that the schema allows must have one. */
export function readPrices(price: PriceEntry, schema: Schema, at: FilePath): ReadPrices {
  const read = readFixedPrices(price, schema, at)
  const { use, by, per } = price
  if ('mistakes' in read || use === undefined) return read
  const path = [...at, 'use']
  if (per !== undefined) return { mistakes: [{ path, message: 'cannot be used with `per`; remove one of them' }] }
  const used = readUse({ use, isByValue: by !== undefined, fixed: read.prices }, path)
  return 'mistakes' in used ? used : { prices: { ...read.prices, ...used } }
}

function readFixedPrices(price: PriceEntry, schema: Schema, at: FilePath): ReadPrices {
  const { usd, by, otherwise, per, min, max } = price
  const refuse = (name: string, message: string) => ({ mistakes: [{ path: [...at, name], message }] })
  if (by !== undefined && per !== undefined) return refuse('per', 'cannot be used with `by`; remove one of them')
  if (per === undefined && (min ?? max) !== undefined)
    return refuse('usd', 'has limits but no `per`; name the quantity in `per`')
  if (by === undefined && otherwise !== undefined)
    return refuse('otherwise', 'needs `by`; remove it, or name the parameter in `by`')
  if (typeof usd === 'bigint') {
    if (by !== undefined) return refuse('usd', 'must list prices by the value of the parameter in `by`')
    if (per !== undefined) return quantityPrices({ unitMicroUsd: usd, per, min, max }, schema, at)
    return { prices: { priceMicroUsd: usd, variants: [], variantOf: () => undefined } }
  }
  if (by === undefined) return refuse('usd', 'has prices by value, so `by` must name the parameter, such as /model')
  return valuePrices({ usd, by, otherwiseMicroUsd: otherwise }, schema, at)
}

interface ByValue {
  readonly usd: Readonly<Record<string, bigint>>
  readonly by: readonly string[]
  readonly otherwiseMicroUsd: bigint | undefined
}

// Names of variants are part of price lists, receipts and account names, so only these characters are allowed.
const variantPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}$/

function valuePrices({ usd, by, otherwiseMicroUsd }: ByValue, schema: Schema, at: FilePath): ReadPrices {
  const found = findParameter(schema, by)
  if ('problem' in found) return { mistakes: [{ path: [...at, 'by'], message: found.problem }] }
  const allowed = valuesOf(found.schema)
  const listed = Object.keys(usd)
  const mistake = (member: string, message: string): FileMistake => ({ path: [...at, member], message })
  const mistakes = listed.flatMap((value): readonly FileMistake[] => {
    const path = [...at, 'usd', value]
    if (!variantPattern.test(value)) return [{ path, message: 'must be letters, digits and ._:/@+-', isName: true }]
    if (allowed?.includes(value) !== false) return []
    return [
      { path, message: `is not a value that the parameters allow; they allow ${allowed.join(', ')}`, isName: true },
    ]
  })
  if (listed.length === 0) mistakes.push(mistake('usd', 'must list at least one price'))
  const highestMicroUsd = Object.values(usd).reduce((most, one) => (one > most ? one : most), 0n)
  // Refuse an `otherwise` that is lower than a listed price if unlisted values are possible. The API may treat another
  // spelling as a listed value, which would then be too cheap.
  const isOpen = allowed === undefined || !found.isRequired
  if (otherwiseMicroUsd !== undefined && otherwiseMicroUsd < highestMicroUsd && isOpen)
    mistakes.push(mistake('otherwise', 'is lower than a listed price, which needs a required parameter with an `enum`'))
  if (otherwiseMicroUsd === undefined) {
    const unpriced = allowed?.filter((value) => !listed.includes(value))
    if (unpriced === undefined)
      mistakes.push(mistake('by', 'names a parameter without an `enum`; add one, or add `otherwise`'))
    else if (unpriced.length > 0)
      mistakes.push(mistake('usd', `has no price for ${unpriced.join(', ')}; add them, or add \`otherwise\``))
    if (!found.isRequired)
      mistakes.push(mistake('by', 'names a parameter that an order can leave out; require it, or add `otherwise`'))
  }
  if (mistakes.length > 0) return { mistakes }
  const variants = Object.entries(usd).map(([name, priceMicroUsd]) => ({ name, priceMicroUsd }))
  // Without `otherwise`, every order has a variant. The price of the route is then the highest listed price.
  const variantOf = (order: Parameters) => {
    const value = valueAt(order, by)
    return isPlainValue(value) && Object.hasOwn(usd, String(value)) ? String(value) : undefined
  }
  return { prices: { priceMicroUsd: otherwiseMicroUsd ?? highestMicroUsd, variants, variantOf } }
}

interface PerQuantity {
  readonly unitMicroUsd: bigint
  readonly per: readonly string[]
  readonly min: number | undefined
  readonly max: number | undefined
}

// Maximum of quantities, because each is an entry of about 300 bytes in every price list.
const quantitiesMax = 200

/** Creates one variant for each quantity, because the price list must contain every price that an order can have. */
function quantityPrices({ unitMicroUsd, per, min, max }: PerQuantity, schema: Schema, at: FilePath): ReadPrices {
  const found = findParameter(schema, per)
  const refuse = (name: string, message: string) => ({ mistakes: [{ path: [...at, name], message }] })
  if ('problem' in found) return refuse('per', found.problem)
  const bounds = boundsOf(found.schema)
  if (bounds === undefined)
    return refuse(
      'per',
      'must name an integer with `minimum` and `maximum`, or an array with `minItems` and `maxItems`',
    )
  if (!found.isRequired) return refuse('per', 'names a parameter that an order can leave out; require it')
  const least = min ?? bounds.min
  const most = max ?? bounds.max
  if (least > bounds.min || most < bounds.max)
    return refuse(
      'per',
      `names a parameter that allows ${bounds.min} to ${bounds.max}, but the prices are for ${least} to ${most}`,
    )
  if (bounds.min < 1) return refuse('per', 'names a quantity that can be 0, which has no price; set its minimum to 1')
  if (bounds.max - bounds.min >= quantitiesMax)
    return refuse('per', `names a quantity with more than ${quantitiesMax} values; lower its maximum`)
  const name = per.at(-1) ?? ''
  const counts = Array.from({ length: bounds.max - bounds.min + 1 }, (_, index) => bounds.min + index)
  const variants = counts.map((count) => ({ name: `${name}=${count}`, priceMicroUsd: unitMicroUsd * BigInt(count) }))
  const variantOf = (order: Parameters) => {
    const value = valueAt(order, per)
    return `${name}=${Array.isArray(value) ? value.length : JSON.stringify(value)}`
  }
  // Every order has a variant. The price of the route is then the price of the largest quantity.
  return { prices: { priceMicroUsd: unitMicroUsd * BigInt(bounds.max), variants, variantOf } }
}

function boundsOf(schema: Schema): { readonly min: number; readonly max: number } | undefined {
  const { type, minimum, maximum, minItems = 0, maxItems } = schema
  const [min, max] = type === 'array' ? [minItems, maxItems] : type === 'integer' ? [minimum, maximum] : []
  return isCount(min) && isCount(max) && min <= max ? { min, max } : undefined
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

type FoundParameter = { readonly schema: Schema; readonly isRequired: boolean } | { readonly problem: string }

function findParameter(schema: Schema, pointer: readonly string[]): FoundParameter {
  let at = schema
  let isRequired = true
  for (const name of pointer) {
    const properties = at['properties']
    const member = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isSchema(member))
      return { problem: `names /${pointer.join('/')}, which is not among \`parameters.properties\`` }
    isRequired &&= Array.isArray(at['required']) && at['required'].includes(name)
    at = member
  }
  return { schema: at, isRequired }
}

function valuesOf(schema: Schema): readonly string[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum']
  return Array.isArray(values) ? values.map(String) : undefined
}

function valueAt(order: Parameters, pointer: readonly string[]): unknown {
  return pointer.reduce<unknown>(memberOf, order)
}

const isPlainValue = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)
