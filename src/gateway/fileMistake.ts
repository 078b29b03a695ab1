import { closestMatch } from 'leven'
import { z } from 'zod'

/** A place in the products file: names and indexes, from the top level down. */
export type FilePath = readonly (string | number)[]

export interface FileMistake {
  readonly path: FilePath
  /** The mistake and how to fix it. A report prints the path first, so this text begins in lower case. */
  readonly message: string
  /** True if the name at the end of the path is wrong, and not the value. */
  readonly isName?: boolean
}

export type Checked<T> = T | { readonly mistakes: readonly FileMistake[] }

// Maximum of letters by which a suggested name differs: 3, and at most half of the name, because any three letters are
// near to each short name.
const distanceMax = (name: string) => Math.min(3, Math.ceil(name.length / 2))

/**
 * Returns the mistakes of an entry. An unknown name becomes a separate mistake, which suggests a similar known name or
 * lists the known names.
 */
export function mistakesOf(error: z.ZodError, schema: z.core.$ZodType, at: FilePath): readonly FileMistake[] {
  return error.issues.flatMap((issue): readonly FileMistake[] => {
    const inside = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))
    const path = [...at, ...inside]
    if (issue.code !== 'unrecognized_keys') return [{ path, message: messageOf(issue) }]
    const known = namesAt(schema, inside)
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownName(key, known), isName: true }))
  })
}

export function unknownName(name: string, known: readonly string[]): string {
  const meant = closestMatch(name, [...known], { maxDistance: distanceMax(name) })
  return meant === undefined ? `is not known; use ${listOf(known)}` : `is not known; did you mean ${meant}?`
}

export const listOf = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '))

/**
 * Returns the message of a mistake. Replaces the usual messages of Zod, which begin with a capital letter, and keeps
 * the messages of the file's schemas.
 */
function messageOf(issue: z.core.$ZodIssue): string {
  const { message } = issue
  if (!/^[A-Z]/.test(message)) return message
  // The issue of a name contains the reason.
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? message
  if (issue.code === 'invalid_type')
    return message.endsWith('received undefined') ? 'is missing' : `must be ${kinds.get(issue.expected) ?? message}`
  if (issue.code === 'invalid_value') return `must be ${issue.values.map(String).join(' or ')}`
  if (issue.code === 'too_big') return boundText(issue.origin, `at most ${issue.maximum}`)
  if (issue.code !== 'too_small') return message
  return boundText(issue.origin, `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`)
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['string', 'text; write a number or a date in quotes'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a mapping of names to values'],
  ['record', 'a mapping of names to values'],
])

function boundText(origin: string, bound: string): string {
  if (origin === 'string') return `must have ${bound} characters`
  return origin === 'array' ? `must have ${bound} items` : `must be ${bound}`
}

function namesAt(schema: z.core.$ZodType, path: FilePath): readonly string[] {
  const [key, ...rest] = path
  const inner = unwrapped(schema)
  if (inner instanceof z.core.$ZodObject) {
    const { shape } = inner._zod.def
    const member = key === undefined ? undefined : shape[key]
    if (key === undefined) return Object.keys(shape)
    return member === undefined ? [] : namesAt(member, rest)
  }
  if (inner instanceof z.core.$ZodUnion) return inner._zod.def.options.flatMap((option) => namesAt(option, path))
  if (inner instanceof z.core.$ZodRecord) return namesAt(inner._zod.def.valueType, rest)
  return inner instanceof z.core.$ZodArray ? namesAt(inner._zod.def.element, rest) : []
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod
  if ('innerType' in def && def.innerType instanceof z.core.$ZodType) return unwrapped(def.innerType)
  return schema instanceof z.core.$ZodPipe ? unwrapped(schema._zod.def.in) : schema
}
