/** Tokens and SOL that a wallet can pay with. */
export interface PayerFunds {
  /** Tokens in the wallet's associated token account, while the wallet can move them. */
  readonly baseUnits: bigint
  readonly lamports: bigint
}
