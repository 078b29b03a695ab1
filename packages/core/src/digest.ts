import { platform } from '#platform'

/** Returns the SHA-256 of bytes, or of a text in UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return platform.sha256(data)
}

export function sha256Hex(data: Uint8Array | string): string {
  return platform.sha256Text(data, 'hex')
}

/** Returns the SHA-256 in base64url without padding. */
export function sha256Base64Url(data: Uint8Array | string): string {
  return platform.sha256Text(data, 'base64url')
}
