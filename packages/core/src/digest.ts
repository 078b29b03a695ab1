import { toHex } from './bytes.ts'
import { platform } from '#platform'

/** SHA-256 of bytes, or of a text in UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return platform.sha256(data)
}

export function sha256Hex(data: Uint8Array | string): string {
  return toHex(sha256(data))
}
