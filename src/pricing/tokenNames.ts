/** How people know the token. Set by the operator; no payment is decided by it. */
export interface TokenNames {
  readonly symbol: string
  /** Page on which people get the token. */
  readonly sourceUrl?: string
}

/** Names of a token that no setting names. */
export const defaultTokenNames: TokenNames = { symbol: 'TOKEN' }

/** `TOKEN (mint …, available at https://…)`. */
export function describeToken({ symbol, sourceUrl }: TokenNames, mint: string): string {
  return `${symbol} (mint ${mint}${sourceUrl === undefined ? '' : `, available at ${sourceUrl}`})`
}
