import { platform } from '#platform'

/** Reads standard base64 with padding in its one canonical spelling. Returns undefined for anything else. */
export function readBase64(text: string, byteLength?: number): Uint8Array | undefined {
  const bytes = platform.fromBase64(text)
  return byteLength !== undefined && bytes?.length !== byteLength ? undefined : bytes
}

/** RFC 4648 section 4, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return platform.toBase64(bytes)
}
