/** For display only: no payment depends on these names. */
export interface TokenNames {
  readonly symbol: string
  readonly sourceUrl?: string
}

export const defaultTokenNames: TokenNames = { symbol: 'TOKEN' }

export function describeToken({ symbol, sourceUrl }: TokenNames, mint: string): string {
  return `${symbol} (mint ${mint}${sourceUrl === undefined ? '' : `, available at ${sourceUrl}`})`
}
