import { assert } from './assert.ts'

/*
 * Money is a bigint of base units, the smallest unit of a token: 10^-decimals of one token. Names of such amounts end
 * in `BaseUnits`. JavaScript numbers would lose digits above 2^53, so they are for display only.
 */

const plainDecimal = /^(0|[1-9]\d{0,30})(?:\.(\d{1,30}))?$/

/**
 * Returns a multiple of 10^-scale. Undefined if the text is not a plain decimal, or has more decimal places than
 * `scale`.
 */
export function parseDecimal(text: string, scale: number): bigint | undefined {
  const match = plainDecimal.exec(text)
  if (match === null) return undefined
  const [, whole = '0', fraction = ''] = match
  if (fraction.length > scale) return undefined
  return BigInt(whole + fraction.padEnd(scale, '0'))
}

const machineDecimal = /^(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/

/**
 * Returns a multiple of 10^-scale, from machine spellings such as `8.1178e-05`. Drops finer digits. Undefined for other
 * text. Use it for external figures only: an amount of this program with too many digits is a bug.
 */
export function parseRoundingDown(text: string, scale: number): bigint | undefined {
  const match = machineDecimal.exec(text)
  if (match === null) return undefined
  const [, whole = '0', fraction = '', exponent = '0'] = match
  const shift = scale + Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  return shift >= 0 ? digits * 10n ** BigInt(shift) : divideRoundingDown(digits, 10n ** BigInt(-shift))
}

/** Reverses `parseDecimal`, without trailing zeros: `(12500n, 3)` is `12.5`. */
export function formatDecimal(amount: bigint, scale: number): string {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '')
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

/** Converts an amount for display only, where the specification defines a JSON number. */
export function displayNumber(amount: bigint, scale: number): number {
  return Number(formatDecimal(amount, scale))
}

/** Both amounts have the same unit. `Math.min` takes no bigints. */
export function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

export function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

/** Divides amounts that are promised or charged. */
export function divideRoundingUp(total: bigint, parts: bigint): bigint {
  assert(parts > 0n && total >= 0n, 'a division that rounds up has a positive divisor and no debt')
  return (total + parts - 1n) / parts
}

/** Divides a sum into parts that are paid out. */
export function divideRoundingDown(total: bigint, parts: bigint): bigint {
  assert(parts > 0n && total >= 0n, 'a division that rounds down has a positive divisor and no debt')
  return total / parts
}

/** Divides figures of reports, which may be negative. */
export function divideTowardsZero(total: bigint, parts: bigint): bigint {
  assert(parts > 0n, 'a division has a positive divisor')
  return total / parts
}

/** Amounts are sent as strings, because JSON numbers lose digits above 2^53. */
export function parseBaseUnits(text: string): bigint {
  assert(/^(0|[1-9]\d{0,19})$/.test(text), 'base units are a plain decimal string of at most 20 digits')
  return BigInt(text)
}
