/**
 * Functions that core needs from its platform. `#platform` in package.json selects native code on Node and pure
 * JavaScript elsewhere. Both return the same bytes (test/core/platform.property.test.ts).
 */
export interface Platform {
  sha256(data: Uint8Array | string): Uint8Array
  sha256Text(data: Uint8Array | string, encoding: 'hex' | 'base64url'): string
  fillRandom(bytes: Uint8Array): void
  ed25519Signer(seed: Uint8Array, publicKey: Uint8Array): (message: Uint8Array) => Uint8Array
  verifyEd25519(signed: { publicKey: Uint8Array; message: Uint8Array; signature: Uint8Array }): boolean
  toBase64(bytes: Uint8Array): string
  toBase64Url(bytes: Uint8Array): string
  fromBase64(text: string): Uint8Array | undefined
  toHex(bytes: Uint8Array): string
}
