export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

/**
 * Far above the needs of a product. Without these limits, one megabyte of brackets, names or empty objects would block
 * the event loop.
 */
export const jsonLimits = {
  depthMax: 32,
  /** Names, values, objects and arrays together. */
  itemsMax: 1_000,
  /** Maximum bytes of a name between its quotes, with its escapes. */
  nameBytesMax: 256,
  /** Maximum bytes of a number or a literal. */
  scalarBytesMax: 40,
} as const

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses JSON within the limits. Rejects duplicate names, because programs disagree about which of the values applies. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const excess = findExcess(bytes)
  if (excess !== undefined) return { ok: false, message: excess }
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes))
    return { ok: true, value }
  } catch {
    // A fixed message, because those of the decoder and the parser help a caller less.
    return { ok: false, message: 'must be valid JSON in UTF-8' }
  }
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const openObject = 0x7b

const kinds = { space: 0, separator: 1, open: 2, close: 3, string: 4, scalar: 5 } as const

const kindOfByte = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  if (' \t\n\r'.includes(character)) return kinds.space
  if (',:'.includes(character)) return kinds.separator
  if ('[{'.includes(character)) return kinds.open
  if (']}'.includes(character)) return kinds.close
  return byte === quote ? kinds.string : kinds.scalar
})

function kindAt(bytes: Uint8Array, at: number): number | undefined {
  return kindOfByte[bytes[at] ?? 0]
}

/**
 * Finds a violation of the limits or a repeated name, in one pass over the bytes before they are decoded. Undefined if
 * there is none, even for invalid JSON.
 */
function findExcess(bytes: Uint8Array): string | undefined {
  // Names that each open object has so far, innermost last. The entry of an array is undefined.
  const open: (Set<string> | undefined)[] = []
  let items = 0
  let at = 0
  while (at < bytes.length) {
    const kind = kindAt(bytes, at)
    if (kind === kinds.space || kind === kinds.separator) {
      at = endOfSpace(bytes, at + 1)
      continue
    }
    const end = kind === kinds.string ? endOfString(bytes, at) : kind === kinds.scalar ? endOfScalar(bytes, at) : at + 1
    if (kind === kinds.close) open.pop()
    else if (++items > jsonLimits.itemsMax) return `must have at most ${jsonLimits.itemsMax} names and values`
    if (kind === kinds.open) open.push(bytes[at] === openObject ? new Set() : undefined)
    if (open.length > jsonLimits.depthMax) return `must nest at most ${jsonLimits.depthMax} levels deep`
    if (kind === kinds.scalar && end - at > jsonLimits.scalarBytesMax)
      return `must have numbers of at most ${jsonLimits.scalarBytesMax} characters`
    const names = kind === kinds.string ? open.at(-1) : undefined
    const problem =
      names !== undefined && isName(bytes, end) ? findNameProblem(names, bytes.subarray(at, end)) : undefined
    if (problem !== undefined) return problem
    at = end
  }
  return undefined
}

/**
 * Returns the index after the white space. The loop calls no function, because a body of spaces is the most expensive
 * input for this scan.
 */
function endOfSpace(bytes: Uint8Array, start: number): number {
  const { length } = bytes
  let at = start
  while (at < length) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
    at++
  }
  return at
}

/** Returns the index after the closing quote, or the length of the bytes if the string is not closed. */
function endOfString(bytes: Uint8Array, start: number): number {
  const nextQuote = bytes.indexOf(quote, start + 1)
  // Search with native code first, because most strings have no escapes and a loop is much slower.
  const plainEnd = nextQuote === -1 ? bytes.length : nextQuote
  const escape = bytes.subarray(start + 1, plainEnd).indexOf(backslash)
  if (escape === -1) return Math.min(plainEnd + 1, bytes.length)
  const { length } = bytes
  let at = start + 1 + escape
  while (at < length) {
    const byte = bytes[at]
    if (byte === quote) break
    at += byte === backslash ? 2 : 1
  }
  return Math.min(at + 1, length)
}

function endOfScalar(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && kindAt(bytes, at) === kinds.scalar) at++
  return at
}

function isName(bytes: Uint8Array, end: number): boolean {
  return bytes[endOfSpace(bytes, end)] === colon
}

function findNameProblem(names: Set<string>, quoted: Uint8Array): string | undefined {
  const { nameBytesMax } = jsonLimits
  if (quoted.length - 2 > nameBytesMax) return `must have names of at most ${nameBytesMax} bytes`
  const name = readName(quoted)
  const isNew = name === undefined || names.size < names.add(name).size
  return isNew ? undefined : 'must not name a key twice in one object'
}

/**
 * Returns the name without its quotes and escapes. Undefined if it is not valid JSON, because the parser refuses it
 * later.
 */
function readName(quoted: Uint8Array): string | undefined {
  try {
    const name: unknown = JSON.parse(utf8.decode(quoted))
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
