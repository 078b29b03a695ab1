/** Uses Latin-1, because it has one character per byte, and is much faster than base58. */
export function byteKey(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

export function bytesOfKey(key: string): Uint8Array {
  return Buffer.from(key, 'latin1')
}

export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
