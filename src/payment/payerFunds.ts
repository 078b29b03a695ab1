export interface PayerFunds {
  /** Tokens in the associated token account. 0 if the wallet cannot move them. */
  readonly baseUnits: bigint
  readonly lamports: bigint
}
