/** The parts of a ticker. Providers join them in different ways. */
export interface Ticker {
  /** `BRK.B`, `0700.HK`: capitals and a dot. */
  readonly canonical: string
  readonly root: string
  /** The class of shares: the `B` of `BRK.B`. */
  readonly shareClass: string | undefined
  /** Suffix of an exchange outside the United States, in Yahoo's common spelling: the `HK` of `0700.HK`. */
  readonly exchangeSuffix: string | undefined
}

/**
 * Suffixes of one letter that mean an exchange: London, Tokyo, Toronto's venture exchange, Frankfurt. Any other letter
 * after a dot is a class of shares.
 */
const exchangesOfOneLetter = new Set(['L', 'T', 'V', 'F'])

/** Splits a symbol. A dash separates a class of shares and never an exchange, so `ABC-L` is class L. */
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

/** True if a ticker may be listed in the United States: at most five letters, and a class of one letter. */
export function isOfUnitedStates({ root, shareClass, exchangeSuffix }: Ticker): boolean {
  return exchangeSuffix === undefined && /^[A-Z]{1,5}$/.test(root) && /^[A-Z]?$/.test(shareClass ?? '')
}

/** Joins root and class, such as `BRK-B`, or returns the root alone. */
export function withClass({ root, shareClass }: Ticker, mark: '.' | '-'): string {
  return shareClass === undefined ? root : `${root}${mark}${shareClass}`
}

/** Compares tickers in any spelling: `BRK/B` and `BRK.B` are equal. */
export function isSameSymbol(a: string, b: string): boolean {
  return plain(a) === plain(b)
}

function plain(symbol: string): string {
  return symbol.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

/**
 * Units in which exchanges quote their shares. London quotes in pence, and some shares in dollars or euros. GBP is
 * missing, because pounds are more often pence with the wrong name.
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

/** Returns the expected currencies. Undefined if the exchange uses several, or is not listed here. */
export function expectedCurrencies(ticker: Ticker): readonly string[] | undefined {
  if (ticker.exchangeSuffix === undefined) return isOfUnitedStates(ticker) ? ['USD'] : undefined
  return currenciesOfSuffix.get(ticker.exchangeSuffix)
}
