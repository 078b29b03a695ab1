import { PNG } from 'pngjs'
import QRCode from 'qrcode'
import { assert } from '@tollbook/core/assert'
import { quietModules } from './qrVersion.ts'

/** The order of a worker thread. Plain data, because it crosses a thread. */
export interface QrOrder {
  readonly data: string
  readonly size: number
  readonly format: 'png' | 'svg'
}

const errorCorrectionLevel = 'M'

/** A data URI of exactly `size` by `size` pixels. Slow for large sizes (100 ms at 2,048), so it runs in a worker thread. */
export async function qrImage(order: QrOrder): Promise<string> {
  if (order.format === 'svg') return `data:image/svg+xml;base64,${Buffer.from(await svgOf(order)).toString('base64')}`
  return `data:image/png;base64,${pngOf(order).toString('base64')}`
}

// Always in byte mode, so that the size of the code follows from the number of bytes (qrVersion.ts).
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
 * The library's own PNG scales by a fraction: modules differ in width, and some pictures are a pixel short. Here every
 * module has the same whole number of pixels, and the remainder becomes quiet zone.
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
