/*
 * Reads an event's body by what must stand where. RFC 8785 leaves one spelling for each value, so this reader walks the
 * text literal by literal: a member that is missing, added, repeated or spelled in another way makes the body unreadable,
 * and two programs can never read two different things in it. It is also three times as fast as a JSON parser with a schema.
 */

/** A body that is not in the one canonical form of its event. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody'
}

// The largest amount of an SPL token, of 20 digits; a token price in 10^-18 dollars has up to 40.
const amountMax = 2n ** 64n - 1n
const amountDigitsMax = 20
const integerDigitsMax = 15
const textCharactersMax = 65_519
// A list has a price for each endpoint, a payout a few debts.
const itemsMax = 1_000
const depthMax = 16

export class BodyReader {
  readonly text: string
  #at = 0
  readonly #hasEscapes: boolean

  /** `latin1` is the body's bytes, one character each: positions are then those of the bytes. */
  constructor(latin1: string) {
    this.text = latin1
    this.#hasEscapes = latin1.includes('\\')
  }

  get at(): number {
    return this.#at
  }

  /** Requires this text here. */
  literal(expected: string): void {
    if (!this.text.startsWith(expected, this.#at)) throw this.#unreadable(`expected ${expected}`)
    this.#at += expected.length
  }

  /** Takes the literal if it stands here. */
  takes(literal: string): boolean {
    if (!this.text.startsWith(literal, this.#at)) return false
    this.#at += literal.length
    return true
  }

  /** Goes on behind a piece of text that has been recognised as a whole. */
  jumpTo(at: number): void {
    this.#at = at
  }

  end(): void {
    if (this.#at !== this.text.length) throw this.#unreadable('expected the end')
  }

  /** A string of any characters. */
  string(before: string): string {
    const raw = this.plain(before)
    // Bytes above 127 are UTF-8 that was read as latin1.
    return notPlain.test(raw) ? this.#unescape(raw) : raw
  }

  /** A string without escapes; the caller checks its characters. */
  plain(before: string): string {
    this.literal(before)
    this.literal('"')
    const start = this.#at
    const end = this.#closingQuote(start)
    this.#at = end + 1
    return this.text.slice(start, end)
  }

  optionalString(before: string): string | undefined {
    this.literal(before)
    return this.takes('null') ? undefined : this.string('')
  }

  /** An integer as JSON writes it. */
  integer(before: string): number {
    this.literal(before)
    const start = this.#at
    if (this.text.charCodeAt(start) === minus) this.#at++
    const digitsAt = this.#at
    while (isDigit(this.text.charCodeAt(this.#at))) this.#at++
    const digits = this.#at - digitsAt
    const leadingZero = digits > 1 && this.text.charCodeAt(digitsAt) === zero
    if (digits === 0 || digits > integerDigitsMax || leadingZero) throw this.#unreadable('expected an integer')
    const value = Number(this.text.slice(start, this.#at))
    if (Object.is(value, -0)) throw this.#unreadable('zero has no sign')
    return value
  }

  /** A bigint as a string of decimal digits. */
  amount(before: string, digitsMax = amountDigitsMax): bigint {
    this.literal(before)
    this.literal('"')
    const start = this.#at
    let end = start
    let small = 0
    for (let code = this.text.charCodeAt(end); isDigit(code); code = this.text.charCodeAt(++end)) {
      small = small * 10 + code - zero
    }
    const digits = end - start
    if (this.text.charCodeAt(end) !== quote) throw this.#unreadable('expected decimal digits')
    const leadingZero = digits > 1 && this.text.charCodeAt(start) === zero
    if (digits === 0 || digits > digitsMax || leadingZero) throw this.#unreadable('expected an amount')
    this.#at = end + 1
    // A number of 15 digits is exact, and makes a bigint in a third of the time of a text.
    if (digits <= integerDigitsMax) return BigInt(small)
    const value = BigInt(this.text.slice(start, end))
    if (digitsMax === amountDigitsMax && value > amountMax) throw this.#unreadable('expected an amount of 64 bits')
    return value
  }

  /** The items of an array whose bracket has been opened. */
  list<T>(item: () => T): readonly T[] {
    const items: T[] = []
    while (!this.takes(']')) {
      if (items.length === itemsMax) throw this.#unreadable('expected the end of a list')
      if (items.length > 0) this.literal(',')
      items.push(item())
    }
    return items
  }

  /**
   * Any value in its canonical spelling (RFC 8785): keys ascending, no space. For members that move no
   * money. Returns its text.
   */
  canonicalValue(before: string): string {
    this.literal(before)
    const start = this.#at
    this.#skipValue(0)
    return this.text.slice(start, this.#at)
  }

  #skipValue(depth: number): void {
    if (depth > depthMax) throw this.#unreadable('expected less nesting')
    const first = this.text.charAt(this.#at)
    if (first === '"') this.string('')
    else if (first === '[') {
      this.literal('[')
      this.list(() => this.#skipValue(depth + 1))
    } else if (first === '{') this.#skipObject(depth)
    else if (!this.takes('true') && !this.takes('false') && !this.takes('null')) this.#skipNumber()
  }

  /** A number is spelled as JavaScript writes it. */
  #skipNumber(): void {
    const end = /[,\]}]/g
    end.lastIndex = this.#at
    const spelled = this.text.slice(this.#at, end.exec(this.text)?.index ?? this.text.length)
    const value = Number(spelled)
    if (!Number.isFinite(value) || String(value) !== spelled) throw this.#unreadable('expected a canonical number')
    this.#at += spelled.length
  }

  #skipObject(depth: number): void {
    this.literal('{')
    let last: string | undefined
    while (!this.takes('}')) {
      if (last !== undefined) this.literal(',')
      const key = this.string('')
      // JavaScript compares strings by UTF-16 code units, as RFC 8785 sorts keys.
      if (last !== undefined && key <= last) throw this.#unreadable('expected keys in ascending order')
      last = key
      this.literal(':')
      this.#skipValue(depth + 1)
    }
  }

  #closingQuote(start: number): number {
    let end = this.text.indexOf('"', start)
    while (this.#hasEscapes && end !== -1 && isEscaped(this.text, end, start)) end = this.text.indexOf('"', end + 1)
    if (end === -1 || end - start > textCharactersMax) throw this.#unreadable('expected the end of a string')
    return end
  }

  #unescape(raw: string): string {
    const written = Buffer.from(raw, 'latin1').toString('utf8')
    try {
      const value: unknown = JSON.parse(`"${written}"`)
      // RFC 8785 writes strings as JSON.stringify does; any other escape is a second spelling.
      if (typeof value === 'string' && JSON.stringify(value) === `"${written}"`) return value
    } catch {
      // No JSON at all: the same as another spelling.
    }
    throw this.#unreadable('a string is not in its canonical spelling')
  }

  #unreadable(what: string): UnreadableBody {
    return new UnreadableBody(`byte ${this.#at}: ${what}`)
  }
}

const zero = 48
const nine = 57
const minus = 45
const backslash = 92
const quote = 34
const notPlain = /[^\x20-\x7e]|\\/

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

/** An odd number of backslashes before a quote makes it a part of the string. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let count = 0
  for (let at = quote - 1; at >= start && text.charCodeAt(at) === backslash; at--) count++
  return count % 2 === 1
}
