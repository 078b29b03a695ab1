/** Tokens of a wallet, and the lamports that pay its network fees. */
export interface PayerFunds {
  /** Tokens in the wallet's associated token account. 0 if the wallet cannot move them. */
  readonly baseUnits: bigint
  readonly lamports: bigint
}
