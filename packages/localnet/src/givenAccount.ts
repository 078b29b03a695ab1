/** An account with its addresses as text. */
export interface GivenAccount {
  readonly address: string
  /** The program that owns it. */
  readonly owner: string
  readonly data: Uint8Array
}
