/** Standard base64 with padding, in the one spelling that a byte string has. Undefined for anything else. */
export function readBase64(text: string, byteLength?: number): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (byteLength !== undefined && bytes.length !== byteLength) return undefined
  return bytes.toString('base64') === text ? bytes : undefined
}

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
