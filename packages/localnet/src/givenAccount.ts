/** Addresses are in base58. */
export interface GivenAccount {
  readonly address: string
  /** Address of the program that owns the account. */
  readonly owner: string
  readonly data: Uint8Array
}
