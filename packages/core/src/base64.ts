import { platform } from '#platform'

/** Reads standard base64 with padding. Undefined for any other spelling, or if there are not `byteLength` bytes. */
export function readBase64(text: string, byteLength?: number): Uint8Array | undefined {
  const bytes = platform.fromBase64(text)
  return byteLength !== undefined && bytes?.length !== byteLength ? undefined : bytes
}

export function encodeBase64(bytes: Uint8Array): string {
  return platform.toBase64(bytes)
}
