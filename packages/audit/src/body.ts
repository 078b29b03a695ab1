import { isUtf8 } from 'node:buffer'
import { z } from 'zod'

/*
 * Bodies of events: JSON in its one canonical spelling (RFC 8785), with exactly the members that its kind declares. Two programs can
 * then never read two different things in one body.
 */

/** A body that is not in the one canonical form of its event. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody'
}

const depthMax = 16

/** The value of a body. Throws `UnreadableBody` unless the canonical JSON of the value is the body itself. */
export function parseCanonical(body: Buffer): unknown {
  const text = body.toString('utf8')
  if (!isUtf8(body)) throw new UnreadableBody('it is not UTF-8')
  const value = parseJson(text)
  // The keys of most bodies are in order, and JSON.stringify is several times as fast.
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

/** JavaScript compares strings by UTF-16 code units, as RFC 8785 sorts keys. */
function hasSortedKeys(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth > depthMax) throw new UnreadableBody(`it is nested more than ${depthMax} deep`)
  let last = ''
  for (const [key, member] of Object.entries(value)) {
    if (!Array.isArray(value) && key < last) return false
    if (!hasSortedKeys(member, depth + 1)) return false
    last = key
  }
  return true
}

/** The canonical JSON of a value. JSON.parse moves keys that are numbers to the front of their object. */
function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`).join(',')}}`
}

/** Parses with a schema. Throws `UnreadableBody` with the first member that is wrong. */
export function readMembers<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UnreadableBody(`${issue?.path.join('.') || 'the body'}: ${issue?.message}`)
}

/** A text that `read` turns into a value; undefined for a text that is not of the form. */
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
// The largest amount of an SPL token.
const baseUnitsMax = 2n ** 64n - 1n

/** Base units as a text of decimal digits. */
export const baseUnits = formOf('an amount of 64 bits', (text) => {
  const value = twentyDigits(text)
  return value === undefined || value > baseUnitsMax ? undefined : value
})

/** A price in a part of a dollar. In 10^-18 dollars, 40 digits are more than all the money there is. */
export const usd = formOf('a price', decimal(40))

/** A time in its one form, `2026-11-21T10:00:00.000Z`, as milliseconds since 1970. */
export const utcTime = formOf('a time in UTC', (text) => {
  const ms = Date.parse(text)
  return Number.isNaN(ms) || new Date(ms).toISOString() !== text ? undefined : ms
})

/** The name behind `Liabilities:Share:`. */
export const shareName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/)

export const share = z.strictObject({ account: shareName, baseUnits })

/** One account's part of a payment. */
export type Share = z.infer<typeof share>

/** Shares of nothing are posted nowhere, and are not part of the text. */
export function describeShares(shares: readonly Share[]): string {
  const posted = shares.filter((part) => part.baseUnits !== 0n)
  return posted.map((part) => `${part.account} ${part.baseUnits}`).join(', ')
}
