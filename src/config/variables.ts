import { isIP } from 'node:net'
import { z } from 'zod'
import { isBase58Of32Bytes } from '@tollbook/core/base58'
import { parseDecimal } from '@tollbook/core/money'
import { hostNamePattern } from '../machine/hostEntry.ts'
import type { ParsedList } from '../pricing/commaList.ts'
import { usdDecimals } from '../pricing/priceList.ts'

export type GivenVariables = Readonly<Record<string, string>>

/** `configSchema.ts` reads the name of the variable from the schema. */
export function variable<T extends z.ZodType>(name: string, schema: T): T {
  return schema.meta({ variable: name })
}

export function integerFrom(min: number, max: number, standard: number) {
  const expected = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,10}$/, expected)
    .transform(Number)
    .refine((value) => value >= min && value <= max, expected)
    .default(standard)
}

const bytesPerMegabyte = 1_000_000

export function megabytes(min: number, max: number, standard: number) {
  return integerFrom(min, max, standard).transform((value) => value * bytesPerMegabyte)
}

const portRule = 'must be a port from 0 to 65535'

export const optionalPort = z
  .string()
  .regex(/^\d{1,5}$/, portRule)
  .transform(Number)
  .refine((value) => value <= 65_535, portRule)
  .optional()

export const hostName = z
  .string()
  .refine(
    (value) => isIP(value) !== 0 || hostNamePattern.test(value),
    'must be an address or a host name, without scheme, port and brackets',
  )

export const filePath = z
  .string()
  .regex(/^[^\0]+$/, 'must be a path')
  .optional()

export const httpUrl = z
  .string()
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'must be an http(s) URL')
  // `fetch` refuses such a URL. Solana nodes are not called with `fetch`, so `httpUrls` takes one.
  .refine((value) => !hasLogin(value), 'must have no user name and no password')
  .optional()

function hasLogin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.username !== '' || url.password !== '')
}

export const list = z.string().transform((value) => value.split(',').map((item) => item.trim()))

export const httpUrls = list
  .refine(
    (urls) => urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)),
    'must be http(s) URLs, separated by commas',
  )
  .optional()

export const postgresUrl = z
  .string()
  .refine(
    (value) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value),
    'must be a postgres:// URL; percent-encode special characters of its password',
  )
  .optional()

export const solanaAddress = z
  .string()
  .refine(isBase58Of32Bytes, 'must be a Solana address (base58 of 32 bytes)')
  .optional()

// Accept printable ASCII only. Secrets are sent in headers and URLs, where another character would make each request
// fail. The start refuses it instead.
export const secret = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .optional()

export function onOff(standard: '0' | '1') {
  return z
    .enum(['0', '1'], 'must be 0 or 1')
    .default(standard)
    .transform((value) => value === '1')
}

// A billion dollars. The database counts in 64 bits, so a larger limit would fail at the first comparison there.
const microUsdMax = 10n ** 15n

/** Millionths of a US dollar. */
export const usd = z.string().transform((value, context) => {
  const microUsd = parseDecimal(value, usdDecimals)
  if (microUsd !== undefined && microUsd <= microUsdMax) return microUsd
  context.addIssue('must be a decimal number of US dollars up to 1000000000, such as 0.05')
  return z.NEVER
})

type Complete<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }

/** Undefined if a value is missing, because the part is then not configured. */
export function complete<T extends object>(values: T): Complete<T> | undefined {
  return isComplete(values) ? values : undefined
}

function isComplete<T extends object>(values: T): values is T & Complete<T> {
  return !Object.values(values).includes(undefined)
}

/** Reports every mistake in the variable at once. */
export function parsedBy<T>(parse: (text: string) => ParsedList<T>, standard: T) {
  return z
    .string()
    .optional()
    .transform((text, context): T => {
      if (text === undefined) return standard
      const parsed = parse(text)
      if (parsed.ok) return parsed.value
      for (const problem of parsed.problems) context.addIssue(problem)
      return z.NEVER
    })
}
