import { XMLParser } from 'fast-xml-parser'
import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { getDocumentProxy } from 'unpdf'
import { z } from 'zod'
import { fetchFile } from '@tollbook/client/fetchFile'
import type { DemoCaller } from '../../product/productFacts.ts'
import { expectThat } from './demoDeps.ts'

/** Reads files as a caller would, with other libraries than those that created the files. */
export const demoCaller: DemoCaller = {
  expect: expectThat,
  fetchFile,
  readPicture(png) {
    const { width, height, data } = PNG.sync.read(Buffer.from(png))
    return { width, height, colorCount: countColors(data) }
  },
  readDrawing(svg) {
    const parser = new XMLParser({ ignoreAttributes: false, isArray: (name) => name === 'path' })
    const { svg: root } = svgJson.parse(parser.parse(svg, true))
    return { width: root['@_width'], height: root['@_height'], pathCount: root.path.length }
  },
  async countPages(pdf) {
    const document = await getDocumentProxy(pdf)
    return document.numPages
  },
}

const svgJson = z.object({
  svg: z.object({ '@_width': z.coerce.number(), '@_height': z.coerce.number(), path: z.array(z.unknown()) }),
})

/** Reads the QR code in a data URI. Undefined if the PNG contains no QR code. */
export function decodeQr(dataUri: string): string | undefined {
  const { data, width, height } = PNG.sync.read(Buffer.from(dataUri.replace('data:image/png;base64,', ''), 'base64'))
  return jsQR.default(Uint8ClampedArray.from(data), width, height)?.data
}

const bytesPerPixel = 4

function countColors(pixels: Buffer): number {
  const colors = new Set<number>()
  for (let at = 0; at < pixels.length; at += bytesPerPixel) colors.add(pixels.readUInt32BE(at))
  return colors.size
}
