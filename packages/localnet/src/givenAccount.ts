/** An account with its addresses as text. */
export interface GivenAccount {
  readonly address: string
  /** The program that owns it. */
  readonly owner: string
  readonly data: Uint8Array
}

/** An account that exists without a transaction. */
export interface PlacedAccount {
  readonly address: Uint8Array
  readonly owner: Uint8Array
  readonly data: Uint8Array
}
