import { z } from 'zod'

// C0, C1 and DEL. A rule can allow tab, CR and LF, which occur in prose, HTML and vCards.
const control = /\p{Cc}/u
const controlButBreaks = /[^\P{Cc}\t\r\n]/u

export interface TextRule {
  readonly expected: string
  readonly allowBreaks?: boolean
  /** For documents. Lengths are in characters. Only `test` decides whether a value is valid. */
  readonly shown: { readonly minLength: number; readonly maxLength: number; readonly pattern?: string }
  readonly test: (text: string) => boolean
}

export function text({ expected, allowBreaks = false, shown, test }: TextRule) {
  const forbidden = allowBreaks ? controlButBreaks : control
  return z
    .string({ error: ({ input }) => (input === undefined ? `is required: ${expected}` : `must be ${expected}`) })
    .refine(
      (value) => value.isWellFormed() && !forbidden.test(value),
      'must not contain control characters or lone surrogates',
    )
    .refine(test, `must be ${expected}`)
    .meta({ description: expected, ...shown })
}

/** Gives no message for unknown members, because readParameters.ts reports them by name. */
export function objectWith(members: string) {
  return {
    error: ({ code }: { readonly code?: string }) =>
      code === 'invalid_type' ? `must be an object with ${members}` : undefined,
  }
}

/** Returns the number of Unicode code points, which can be less than the number of UTF-16 units. */
export function characterCount(value: string): number {
  let count = 0
  for (const _character of value) count++
  return count
}

export function utf8ByteCount(value: string): number {
  return Buffer.byteLength(value, 'utf8')
}

export interface IntegerRule {
  readonly min: number
  readonly max: number
  readonly default: number
}

export function integer(rule: IntegerRule) {
  return boundedInteger(rule.min, rule.max).default(rule.default)
}

/** Has no default, so that an order that omits the number stays unchanged. */
export function bounded(min: number, max: number) {
  const expected = `must be a number from ${min} to ${max}`
  return z.number({ error: expected }).min(min, expected).max(max, expected)
}

export function boundedInteger(min: number, max: number) {
  const expected = `must be a whole number from ${min} to ${max}`
  return z.int({ error: expected }).min(min, expected).max(max, expected)
}

export const yesOrNo = z.boolean({ error: 'must be true or false' })

/** Only digits are accepted: `1e1`, `0x10` and `+5` are refused. */
export function queryInteger(rule: IntegerRule) {
  return optionalQueryInteger(rule)
    .default(rule.default)
    .meta({ ...shownInteger(rule), default: rule.default })
}

/** Has no default, so that an order that omits the integer stays unchanged. */
export function optionalQueryInteger(rule: Omit<IntegerRule, 'default'>) {
  const expected = `must be a whole number from ${rule.min} to ${rule.max}, in digits`
  return z
    .string({ error: expected })
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine((value) => value >= rule.min && value <= rule.max, expected)
    .meta(shownInteger(rule))
}

function shownInteger({ min, max }: Omit<IntegerRule, 'default'>) {
  return { type: 'integer', pattern: undefined, minimum: min, maximum: max } as const
}

export function queryDecimal({ min, max }: Omit<IntegerRule, 'default'>) {
  const expected = `must be a decimal number from ${min} to ${max}`
  return z
    .string({ error: expected })
    .regex(/^-?\d{1,3}(\.\d{1,20})?$/, expected)
    .transform(Number)
    .refine((value) => value >= min && value <= max, expected)
    .meta({ type: 'number', pattern: undefined, minimum: min, maximum: max })
}

export function queryFlag() {
  return z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((value) => value === 'true')
    .meta({ type: 'boolean', enum: undefined })
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` })
}
