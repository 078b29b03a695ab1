import { XMLParser } from 'fast-xml-parser'
import { PNG } from 'pngjs'
import { getDocumentProxy } from 'unpdf'
import { z } from 'zod'
import { fetchFile } from '@tollbook/client/fetchFile'
import { expectThat } from './demoDeps.ts'

/*
 * Files are fetched and read with other people's libraries, as the buyer would. Each check returns what there is to tell.
 */

export const qrText = 'Also as vectors.'
export const qrSize = 200

const qrJson = z.object({
  qrCode: z.templateLiteral(['data:image/svg+xml;base64,', z.string()]),
  originalData: z.literal(qrText),
  size: z.literal(`${qrSize}x${qrSize}`),
})
const svgJson = z.object({
  svg: z.object({ '@_width': z.literal(`${qrSize}`), '@_height': z.literal(`${qrSize}`), path: z.array(z.unknown()) }),
})

export function checkSvg(data: unknown): string {
  const { qrCode, size } = qrJson.parse(data)
  const text = Buffer.from(qrCode.replace(/^[^,]*,/, ''), 'base64').toString('utf8')
  const parser = new XMLParser({ ignoreAttributes: false, isArray: (name) => name === 'path' })
  const { svg } = svgJson.parse(parser.parse(text, true))
  expectThat(svg.path.length > 0, 'a QR code has modules')
  return `a QR code as SVG of ${size}, which parses`
}

export const viewport = { width: 800, height: 600 }

const screenshotJson = z.object({
  imageUrl: z.url(),
  width: z.literal(viewport.width),
  height: z.literal(viewport.height),
  format: z.literal('png'),
})

export async function checkScreenshot(data: unknown): Promise<string> {
  const { imageUrl, width, height } = screenshotJson.parse(data)
  const { contentType, bytes } = await fetchFile(imageUrl)
  expectThat(contentType === 'image/png', `the picture is image/png, not ${contentType}`)
  const picture = PNG.sync.read(Buffer.from(bytes))
  expectThat(
    picture.width === width && picture.height === height,
    `the picture has ${width} by ${height} pixels, not ${picture.width} by ${picture.height}`,
  )
  expectThat(colorCount(picture.data) > 1, 'there is something on the picture')
  return `a picture of ${picture.width} by ${picture.height} pixels, ${kilobytes(bytes)}, ${imageUrl}`
}

const bytesPerPixel = 4

function colorCount(pixels: Buffer): number {
  const colors = new Set<number>()
  for (let at = 0; at < pixels.length; at += bytesPerPixel) colors.add(pixels.readUInt32BE(at))
  return colors.size
}

const pageCount = 3
export const pdfHtml = Array.from({ length: pageCount }, (_, page) => `<h1>Page ${page + 1}</h1>`).join(
  '<div style="break-after: page"></div>',
)

const pdfJson = z.object({
  pdfUrl: z.url(),
  pages: z.literal(pageCount),
  size: z.string().regex(/^\d+(\.\d+)? (B|KB|MB)$/),
})

export async function checkPdf(data: unknown): Promise<string> {
  const { pdfUrl, pages, size } = pdfJson.parse(data)
  const { contentType, bytes } = await fetchFile(pdfUrl)
  expectThat(contentType === 'application/pdf', `the document is application/pdf, not ${contentType}`)
  const document = await getDocumentProxy(bytes)
  expectThat(document.numPages === pages, `the document has ${pages} pages, not ${document.numPages}`)
  return `a document of ${pages} pages, ${size}, ${pdfUrl}`
}

function kilobytes({ length }: Uint8Array): string {
  return `${Math.ceil(length / 1024)} KB`
}
