import { ed25519 } from '@noble/curves/ed25519'
import { sha256 } from '@noble/hashes/sha2'
import { base64, base64urlnopad, hex } from '@scure/base'
import type { Platform } from './platform.ts'

/** For browsers, workers and other runtimes without node:crypto. */
export const platform: Platform = {
  sha256: (data) => sha256(data),
  sha256Text: (data, encoding) => (encoding === 'hex' ? hex : base64urlnopad).encode(sha256(data)),
  fillRandom: (bytes) =>
    void globalThis.crypto.getRandomValues(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
  ed25519Signer: (seed) => (message) => ed25519.sign(message, seed),
  verifyEd25519: ({ publicKey, message, signature }) => verify(publicKey, message, signature),
  toBase64: (bytes) => base64.encode(bytes),
  toBase64Url: (bytes) => base64urlnopad.encode(bytes),
  fromBase64: (text) => decodeCanonical(text),
  toHex: (bytes) => hex.encode(bytes),
}

/** For a key that is not on the curve, noble throws and Node returns false, so this returns false. */
function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}

function decodeCanonical(text: string): Uint8Array | undefined {
  try {
    const bytes = base64.decode(text)
    return base64.encode(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}
