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

/** Writes an account for the command line. */
export function writeAccount({ address, owner, data }: GivenAccount): string {
  return [address, owner, Buffer.from(data).toString('base64')].join(':')
}

/** Reads an account of the command line. The chain checks the addresses. */
export function readAccount(text: string): GivenAccount {
  const [address = '', owner = '', data = ''] = text.split(':')
  return { address, owner, data: Buffer.from(data, 'base64') }
}
