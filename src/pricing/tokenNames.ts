/** Names of the token for display. The operator configures them, and no payment depends on them. */
export interface TokenNames {
  readonly symbol: string
  readonly sourceUrl?: string
}

export const defaultTokenNames: TokenNames = { symbol: 'TOKEN' }

/** Returns the token as text for display: `TOKEN (mint …, available at https://…)`. */
export function describeToken({ symbol, sourceUrl }: TokenNames, mint: string): string {
  return `${symbol} (mint ${mint}${sourceUrl === undefined ? '' : `, available at ${sourceUrl}`})`
}
