/** Tokens of a wallet, and the coins that pay its network fees. */
export interface PayerFunds {
  /** Tokens in the wallet's associated token account, while the wallet can move them. */
  readonly baseUnits: bigint
  readonly lamports: bigint
}
