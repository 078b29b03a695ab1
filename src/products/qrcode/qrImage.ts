import QRCode from 'qrcode'
import { assert } from '@tollbook/core/assert'
import { bitPng } from './bitPng.ts'
import { quietModules } from './qrVersion.ts'

/** An order for a worker thread. Plain data, because it is copied between threads. */
export interface QrOrder {
  readonly data: string
  readonly size: number
  readonly format: 'png' | 'svg'
}

const errorCorrectionLevel = 'M'

/** Returns the data URI of a picture with exactly `size` by `size` pixels. */
export async function qrImage(order: QrOrder): Promise<string> {
  if (order.format === 'svg') return `data:image/svg+xml;base64,${Buffer.from(await svgOf(order)).toString('base64')}`
  return `data:image/png;base64,${pngOf(order).toString('base64')}`
}

// Use only byte mode, so that the number of bytes alone determines the size of the code (see qrVersion.ts).
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
 * Draws a PNG in which every module has the same whole number of pixels. Remaining pixels widen the quiet zone. The
 * library's own PNG scales by a fraction, so its modules differ in width.
 */
function pngOf(order: QrOrder): Buffer {
  const { modules } = QRCode.create(segmentsOf(order), { errorCorrectionLevel })
  const scale = Math.floor(order.size / (modules.size + 2 * quietModules))
  assert(scale >= 1, 'each module of the code has at least one pixel')
  const offset = Math.floor((order.size - modules.size * scale) / 2)
  const lineBytes = 1 + Math.ceil(order.size / 8)
  const lines = Buffer.alloc(order.size * lineBytes, white)
  for (let y = 0; y < order.size; y++) lines[y * lineBytes] = 0
  for (let row = 0; row < modules.size; row++) {
    const top = (offset + row * scale) * lineBytes
    for (let x = 0; x < modules.size * scale; x++) {
      if (!modules.get(row, Math.floor(x / scale))) continue
      const [at, bit] = [top + 1 + ((offset + x) >> 3), 0x80 >> ((offset + x) & 7)]
      lines[at] = (lines[at] ?? white) & ~bit
    }
    for (let y = 1; y < scale; y++) lines.copy(lines, top + y * lineBytes, top, top + lineBytes)
  }
  return bitPng(order.size, lines)
}

const white = 0xff
