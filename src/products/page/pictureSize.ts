import { assert } from '@tollbook/core/assert'
import type { PictureFormat } from '../../rendering/renderer.ts'

/** Size in pixels, from the header of the image file. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

/**
 * Reads the size from the header of the file, because the order does not determine the size, for example with
 * `fullPage`.
 */
export function pictureSize(bytes: Uint8Array, format: PictureFormat): PictureSize {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = readers[format](view)
  assert(size !== undefined, `the browser makes ${format} pictures`)
  return size
}

type ReadSize = (view: DataView) => PictureSize | undefined

const readers: Record<PictureFormat, ReadSize> = { png: pngSize, jpeg: jpegSize, webp: webpSize }

const pngSignature = 0x89504e47
const pngFirstChunk = 0x49484452

// Reads the size from the header of a PNG: the signature, then the first chunk, which is always IHDR (PNG, 5.2 and
// 11.2.1).
function pngSize(view: DataView): PictureSize | undefined {
  if (view.byteLength < 24 || view.getUint32(0) !== pngSignature || view.getUint32(12) !== pngFirstChunk)
    return undefined
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

/**
 * Reads the size from the frame header of a JPEG. The preceding segments are skipped by their length (ITU-T T.81,
 * B.1.1).
 */
function jpegSize(view: DataView): PictureSize | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xff_d8) return undefined
  for (let at = 2; at + 9 <= view.byteLength; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at)
    // SOF0 to SOF2 begin a baseline, an extended or a progressive frame. Their headers have the same form.
    if (marker >= 0xff_c0 && marker <= 0xff_c2) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    if (marker < 0xff_00) return undefined
  }
  return undefined
}

/** Reads the size from the header of a lossy WebP, or of an extended WebP (RFC 9649, 2.5 and 2.7). */
function webpSize(view: DataView): PictureSize | undefined {
  if (view.byteLength < 30 || view.getUint32(8) !== 0x57454250) return undefined
  const kind = view.getUint32(12)
  if (kind === 0x56503820)
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  if (kind !== 0x56503858) return undefined
  const uint24 = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536
  return { width: uint24(24) + 1, height: uint24(27) + 1 }
}
