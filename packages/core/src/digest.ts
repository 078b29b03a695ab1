import { platform } from '#platform'

export function sha256(data: Uint8Array | string): Uint8Array {
  return platform.sha256(data)
}

export function sha256Hex(data: Uint8Array | string): string {
  return platform.sha256Text(data, 'hex')
}

export function sha256Base64Url(data: Uint8Array | string): string {
  return platform.sha256Text(data, 'base64url')
}
