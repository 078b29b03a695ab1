import { platform } from '#platform'

/** A text is hashed in UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return platform.sha256(data)
}

export function sha256Hex(data: Uint8Array | string): string {
  return platform.sha256Text(data, 'hex')
}

/** Returns the digest as base64url without padding. */
export function sha256Base64Url(data: Uint8Array | string): string {
  return platform.sha256Text(data, 'base64url')
}
