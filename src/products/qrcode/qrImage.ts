import { PNG } from 'pngjs'
import QRCode from 'qrcode'
import { assert } from '@tollbook/core/assert'
import { quietModules } from './qrVersion.ts'

/** An order for a worker thread. It is plain data, because it is sent between threads. */
export interface QrOrder {
  readonly data: string
  readonly size: number
  readonly format: 'png' | 'svg'
}

const errorCorrectionLevel = 'M'

/**
 * Returns a data URI of exactly `size` by `size` pixels. Large sizes are slow (100 ms at 2,048), so this runs in a
 * worker thread.
 */
export async function qrImage(order: QrOrder): Promise<string> {
  if (order.format === 'svg') return `data:image/svg+xml;base64,${Buffer.from(await svgOf(order)).toString('base64')}`
  return `data:image/png;base64,${pngOf(order).toString('base64')}`
}

// Uses byte mode only, so that the number of bytes determines the size of the code (qrVersion.ts).
function segmentsOf({ data }: QrOrder) {
  return [{ data: Buffer.from(data, 'utf8'), mode: 'byte' as const }]
}

function svgOf(order: QrOrder): Promise<string> {
  return QRCode.toString(segmentsOf(order), {
    type: 'svg',
    width: order.size,
    margin: quietModules,
    errorCorrectionLevel,
  })
}

/**
 * Draws a PNG whose modules all have the same whole number of pixels; remaining pixels widen the quiet zone. The
 * library's own PNG scales by a fraction, so modules differ in width and some pictures are a pixel too small.
 */
function pngOf(order: QrOrder): Buffer {
  const { modules } = QRCode.create(segmentsOf(order), { errorCorrectionLevel })
  const scale = Math.floor(order.size / (modules.size + 2 * quietModules))
  assert(scale >= 1, 'each module of the code has at least one pixel')
  const offset = Math.floor((order.size - modules.size * scale) / 2)
  const png = new PNG({ width: order.size, height: order.size, colorType: 0 })
  png.data.fill(white)
  for (let row = 0; row < modules.size; row++) {
    const line = Buffer.alloc(order.size * bytesPerPixel, white)
    for (let column = 0; column < modules.size; column++) {
      const left = (offset + column * scale) * bytesPerPixel
      if (modules.get(row, column)) line.fill(blackPixel, left, left + scale * bytesPerPixel)
    }
    for (let y = 0; y < scale; y++) png.data.set(line, (offset + row * scale + y) * line.length)
  }
  return PNG.sync.write(png, { colorType: 0, filterType: 0 })
}

const bytesPerPixel = 4
const white = 0xff
const blackPixel = Uint8Array.of(0, 0, 0, 0xff)
