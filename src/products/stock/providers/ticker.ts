/** Each provider joins the parts of a ticker differently. */
export interface Ticker {
  /** The symbol in capitals, usually joined with a dot: `BRK.B`, `0700.HK`. */
  readonly canonical: string
  readonly root: string
  /** The class of shares, such as `B` in `BRK.B`. */
  readonly shareClass: string | undefined
  /** Suffix of an exchange outside the United States, as Yahoo writes it: `HK` in `0700.HK`. Undefined: no such suffix. */
  readonly exchangeSuffix: string | undefined
}

/**
 * Suffixes of one letter that mean an exchange: London, Tokyo, Toronto's venture exchange and Frankfurt. Any other
 * single letter after a dot is a class of shares.
 */
const exchangesOfOneLetter = new Set(['L', 'T', 'V', 'F'])

/**
 * Splits a symbol into its parts. A dash always precedes a class of shares and never an exchange, so `ABC-L` is class L
 * of ABC.
 */
export function tickerOf(symbol: string): Ticker {
  const [, root = '', mark, suffix] = /^([A-Z0-9]+)(?:([.-])([A-Z0-9]+))?$/.exec(symbol.toUpperCase()) ?? []
  const isExchange = mark === '.' && suffix !== undefined && (suffix.length > 1 || exchangesOfOneLetter.has(suffix))
  return {
    canonical: suffix === undefined ? root : `${root}${isExchange || suffix.length === 1 ? '.' : '-'}${suffix}`,
    root,
    shareClass: isExchange ? undefined : suffix,
    exchangeSuffix: isExchange ? suffix : undefined,
  }
}

/** True for a ticker in the United States. It has at most five letters, and at most one letter for the class. */
export function isOfUnitedStates({ root, shareClass, exchangeSuffix }: Ticker): boolean {
  return exchangeSuffix === undefined && /^[A-Z]{1,5}$/.test(root) && /^[A-Z]?$/.test(shareClass ?? '')
}

/** Joins root and class with the mark, such as `BRK-B`. Without a class, returns the root alone. */
export function withClass({ root, shareClass }: Ticker, mark: '.' | '-'): string {
  return shareClass === undefined ? root : `${root}${mark}${shareClass}`
}

/** True if the symbols are equal without their marks, which differ between providers: `BRK/B` equals `BRK.B`. */
export function isSameSymbol(a: string, b: string): boolean {
  return plain(a) === plain(b)
}

function plain(symbol: string): string {
  return symbol.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

/**
 * Units in which exchanges quote shares. London quotes in pence, and some shares in dollars or euros. GBP is missing on
 * purpose: an amount in pounds is more often an amount in pence with the wrong unit.
 */
const currenciesOfSuffix: ReadonlyMap<string, readonly string[]> = new Map([
  ['L', ['GBp', 'GBX', 'USD', 'EUR']],
  ['T', ['JPY']],
  ['DE', ['EUR']],
  ['PA', ['EUR']],
  ['AS', ['EUR']],
  ['BR', ['EUR']],
  ['MI', ['EUR']],
  ['MC', ['EUR']],
  ['AX', ['AUD']],
  ['NS', ['INR']],
  ['BO', ['INR']],
  ['TA', ['ILA', 'ILS']],
  ['JO', ['ZAc', 'ZAR']],
])

/**
 * Returns the units in which the exchange quotes. Undefined: the exchange uses several currencies, or is not listed
 * here.
 */
export function expectedCurrencies(ticker: Ticker): readonly string[] | undefined {
  if (ticker.exchangeSuffix === undefined) return isOfUnitedStates(ticker) ? ['USD'] : undefined
  return currenciesOfSuffix.get(ticker.exchangeSuffix)
}
