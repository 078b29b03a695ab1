import { assert } from '@tollbook/core/assert'

// The signature, then the length and the name of the first chunk, which is always IHDR (PNG, 5.2 and 11.2.1).
const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

/** Width and height from the picture's own header, not from the order. */
export function pngSize(bytes: Uint8Array): { readonly width: number; readonly height: number } {
  assert(bytes.length >= 24 && head.equals(bytes.subarray(0, head.length)), 'the browser makes PNG pictures')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { width: view.getUint32(16), height: view.getUint32(20) }
}
