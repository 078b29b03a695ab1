export interface PayerFunds {
  readonly baseUnits: bigint
  readonly lamports: bigint
}
