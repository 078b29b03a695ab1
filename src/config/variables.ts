import { isIP } from 'node:net'
import { z } from 'zod'
import { isBase58Of32Bytes } from '@tollbook/core/base58'
import type { ParsedSetting } from '../pricing/settingList.ts'

/** The variables that have a value, as text. */
export type GivenVariables = Readonly<Record<string, string>>

/** A variable that another one makes necessary, with the reason. */
export type MissingVariable = readonly [name: string, why: string]

export const daySeconds = 24 * 60 * 60

/** An integer within its limits. */
export function wholeNumber(min: number, max: number, standard: number) {
  const expected = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,10}$/, expected)
    .transform(Number)
    .refine((value) => value >= min && value <= max, expected)
    .default(standard)
}

export const optionalPort = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a port')
  .optional()

// Labels of letters, digits and hyphens. A name that ends with a number is meant as an IPv4 address.
const hostLabels = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** Host of a listener. */
export const hostName = z
  .string()
  .refine(
    (value) => isIP(value) !== 0 || hostLabels.test(value),
    'must be an address or a host name, without scheme, port and brackets',
  )

export const filePath = z
  .string()
  .regex(/^[^\0]+$/, 'must be a path')
  .optional()

export const httpUrl = z
  .string()
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'must be an http(s) URL')
  .optional()

export const httpUrls = z
  .string()
  .transform((value) => value.split(',').map((url) => url.trim()))
  .refine(
    (urls) => urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)),
    'must be http(s) URLs, separated by commas',
  )
  .optional()

export const postgresUrl = z
  .string()
  .refine((value) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value), 'must be a postgres:// URL')
  .optional()

export const solanaAddress = z
  .string()
  .refine(isBase58Of32Bytes, 'must be a Solana address (base58 of 32 bytes)')
  .optional()

// Keys are sent in headers and addresses, where any other character would fail at each request instead of at start-up.
export const secret = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .optional()

/** `1` or `0`. */
export function onOff(standard: '0' | '1') {
  return z
    .enum(['0', '1'], 'must be 0 or 1')
    .default(standard)
    .transform((value) => value === '1')
}

/** Each name of the list that has no value, where the first name of the pair has one. */
export function missingBeside(
  given: GivenVariables,
  present: string,
  needed: readonly MissingVariable[],
): readonly MissingVariable[] {
  return given[present] === undefined ? [] : needed.filter(([name]) => given[name] === undefined)
}

/** A variable whose parser names every mistake. */
export function parsedBy<T>(parse: (text: string) => ParsedSetting<T>, standard: T) {
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
