/** What a stock is asked for by, taken apart, because every provider puts it together in its own way. */
export interface Ticker {
  /** `BRK.B`, `0700.HK`: capitals and a dot. */
  readonly canonical: string
  readonly root: string
  /** Of a class of shares: the `B` of `BRK.B`. */
  readonly shareClass: string | undefined
  /** Of an exchange outside of the United States, as Yahoo and most of the world spell it: the `HK` of `0700.HK`. */
  readonly exchangeSuffix: string | undefined
}

/** One letter after a dot is a class of shares, but for these: London, Tokyo, Toronto's venture exchange, Frankfurt. */
const exchangesOfOneLetter = new Set(['L', 'T', 'V', 'F'])

/** A dash parts a class of shares and never an exchange, so `ABC-L` is one way to ask for class L. */
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

/** Could be listed in the United States: letters only there, five at most, and a class of one letter. */
export function isOfUnitedStates({ root, shareClass, exchangeSuffix }: Ticker): boolean {
  return exchangeSuffix === undefined && /^[A-Z]{1,5}$/.test(root) && /^[A-Z]?$/.test(shareClass ?? '')
}

/** `BRK-B` from root and class, or the root alone. */
export function withClass({ root, shareClass }: Ticker, mark: '.' | '-'): string {
  return shareClass === undefined ? root : `${root}${mark}${shareClass}`
}

/** Whether a provider speaks of what it was asked for; one writes `BRK/B` where another writes `BRK.B`. */
export function isSameSymbol(a: string, b: string): boolean {
  return plain(a) === plain(b)
}

function plain(symbol: string): string {
  return symbol.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}
