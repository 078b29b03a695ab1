import { isUtf8 } from 'node:buffer'
import { z } from 'zod'

/*
 * Parses event bodies. A body is canonical JSON (RFC 8785) with exactly the members that its kind declares, so two
 * programs cannot read it differently.
 */

/** Thrown for a body that is not canonical JSON, or that does not have the members of its event. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody'
}

const depthMax = 16

/** Parses a body. Throws `UnreadableBody` if the bytes are not the canonical JSON of their value. */
export function parseCanonical(body: Buffer): unknown {
  const text = body.toString('utf8')
  // Check the bytes, because decoding replaces invalid bytes without an error.
  if (!isUtf8(body)) throw new UnreadableBody('it is not UTF-8')
  const value = parseJson(text)
  // A text with sorted keys is canonical if JSON.stringify returns the same text, which is faster to test.
  const isCanonical = hasSortedKeys(value) ? JSON.stringify(value) === text : canonicalText(value) === text
  if (!isCanonical) throw new UnreadableBody('it is not in its canonical spelling')
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UnreadableBody('it is not JSON', { cause: error })
  }
}

/**
 * Returns true if all keys are sorted. JavaScript compares strings by UTF-16 code units, the order of RFC 8785. Throws
 * `UnreadableBody` if the value is nested too deeply.
 */
function hasSortedKeys(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth > depthMax) throw new UnreadableBody(`it is nested more than ${depthMax} deep`)
  let [last, isSorted] = ['', true]
  // Visit all members, also after an unsorted key, because each of them may be nested too deeply.
  for (const [key, member] of Object.entries(value)) {
    const isMemberSorted = hasSortedKeys(member, depth + 1)
    isSorted &&= isMemberSorted && (Array.isArray(value) || key >= last)
    last = key
  }
  return isSorted
}

/**
 * Returns the canonical JSON of a value. Sorts the keys, because JSON.parse moves integer keys to the front of their
 * object.
 */
function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`).join(',')}}`
}

/** Throws an `UnreadableBody` that names the first wrong member. */
export function readMembers<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UnreadableBody(`${issue?.path.join('.') || 'the body'}: ${issue?.message}`)
}

/** Returns a schema for strings of this form. `read` returns undefined for any other string. */
function formOf<T>(form: string, read: (text: string) => T | undefined) {
  return z.string().transform((text, context) => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue(`expected ${form}`)
    return z.NEVER
  })
}

function decimal(digitsMax: number): (text: string) => bigint | undefined {
  const form = new RegExp(`^(?:0|[1-9]\\d{0,${digitsMax - 1}})$`)
  return (text) => (form.test(text) ? BigInt(text) : undefined)
}

const twentyDigits = decimal(20)
// Largest amount of an SPL token. Amounts are unsigned integers of 64 bits.
const baseUnitsMax = 2n ** 64n - 1n

/** Amount as a string of decimal digits, because a JSON number loses digits above 2^53. */
export const baseUnits = formOf('an amount of 64 bits', (text) => {
  const value = twentyDigits(text)
  return value === undefined || value > baseUnitsMax ? undefined : value
})

/** Schema of a price in fractions of a dollar. In units of 10^-18 dollars, 40 digits suffice for 10^21 dollars. */
export const usd = formOf('a price', decimal(40))

/** Schema of a time. Accepts only the form `2026-11-21T10:00:00.000Z` and converts it to milliseconds since 1970. */
export const utcTime = formOf('a time in UTC', (text) => {
  const ms = Date.parse(text)
  return Number.isNaN(ms) || new Date(ms).toISOString() !== text ? undefined : ms
})

/** Name of a share account, without the prefix `Liabilities:Share:`. */
export const shareName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/)

export const share = z.strictObject({ account: shareName, baseUnits })

export type Share = z.infer<typeof share>

/** Returns the shares as text. Omits shares of zero, because they have no posting. */
export function describeShares(shares: readonly Share[]): string {
  const posted = shares.filter((part) => part.baseUnits !== 0n)
  return posted.map((part) => `${part.account} ${part.baseUnits}`).join(', ')
}
