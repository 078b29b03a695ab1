/** The parts of a ticker, because every provider joins them differently. */
export interface Ticker {
  /** `BRK.B`, `0700.HK`: capitals and a dot. */
  readonly canonical: string
  readonly root: string
  /** The class of shares: the `B` of `BRK.B`. */
  readonly shareClass: string | undefined
  /** The exchange outside the United States in Yahoo's spelling, which most of the world uses: the `HK` of `0700.HK`. */
  readonly exchangeSuffix: string | undefined
}

/** One letter after a dot is a class of shares, except these: London, Tokyo, Toronto's venture exchange, Frankfurt. */
const exchangesOfOneLetter = new Set(['L', 'T', 'V', 'F'])

/** A dash separates a class of shares and never an exchange, so `ABC-L` is class L. */
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

/** Possibly listed in the United States: at most five letters, and a class of one letter. */
export function isOfUnitedStates({ root, shareClass, exchangeSuffix }: Ticker): boolean {
  return exchangeSuffix === undefined && /^[A-Z]{1,5}$/.test(root) && /^[A-Z]?$/.test(shareClass ?? '')
}

/** `BRK-B` from root and class, or the root alone. */
export function withClass({ root, shareClass }: Ticker, mark: '.' | '-'): string {
  return shareClass === undefined ? root : `${root}${mark}${shareClass}`
}

/** Compares tickers across spellings: `BRK/B` and `BRK.B` are equal. */
export function isSameSymbol(a: string, b: string): boolean {
  return plain(a) === plain(b)
}

function plain(symbol: string): string {
  return symbol.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

/**
 * The units in which shares are quoted at exchanges that use one of them. London quotes in pence, and some lines in dollars or
 * euros: pounds are more often pence with the wrong name.
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

/** Undefined where shares are quoted in several currencies, or in one that is not listed here. */
export function expectedCurrencies(ticker: Ticker): readonly string[] | undefined {
  if (ticker.exchangeSuffix === undefined) return isOfUnitedStates(ticker) ? ['USD'] : undefined
  return currenciesOfSuffix.get(ticker.exchangeSuffix)
}
