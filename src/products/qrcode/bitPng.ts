import { crc32, deflateSync } from 'node:zlib'

/**
 * Encodes a black and white square as PNG (ISO/IEC 15948) with one bit per pixel. `lines` has one entry per row: a zero
 * byte, which means no filter, then the pixels from left to right. A set bit is white. A general encoder is slower,
 * because it works on 32 bits per pixel.
 */
export function bitPng(size: number, lines: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.writeUInt8(1, 8) // Bits per pixel. Zeros: grey, deflate, no filters by line, not interlaced.
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND')])
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const [length, checked, sum] = [Buffer.alloc(4), Buffer.concat([Buffer.from(type, 'latin1'), data]), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(checked))
  return Buffer.concat([length, checked, sum])
}
