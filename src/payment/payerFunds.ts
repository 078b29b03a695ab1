/** What a wallet can pay with, and the coins that pay network fees. */
export interface PayerFunds {
  /** Tokens in the wallet's associated token account, while the wallet can move them. */
  readonly baseUnits: bigint
  readonly lamports: bigint
}
