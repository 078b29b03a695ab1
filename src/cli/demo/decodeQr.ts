import jsQR from 'jsqr'
import { PNG } from 'pngjs'

/** Reads the text of a QR code in a data URI of a PNG, as a camera would. Undefined when there is none. */
export function decodeQr(dataUri: string): string | undefined {
  const { data, width, height } = PNG.sync.read(Buffer.from(dataUri.replace('data:image/png;base64,', ''), 'base64'))
  return jsQR.default(Uint8ClampedArray.from(data), width, height)?.data
}
