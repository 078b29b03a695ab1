import type { Page, PDFOptions } from 'puppeteer'
import { readBytes, TooLong } from '../outbound/readBytes.ts'
import { fitPaper } from './fitPaper.ts'
import type { PageWorld } from './pageWorld.ts'
import { type MissingContent, type PdfOrder, RenderFailure, resultBytesMax, type ScreenshotOrder } from './renderer.ts'

/** `clipped`: the page is longer than the picture. `missing`: content that the capture itself left out. */
export interface CapturedPage {
  readonly bytes: Uint8Array
  readonly clipped: boolean
  readonly missing: readonly MissingContent[]
}

// Beyond 16,384 device pixels the browser's graphics library repeats or drops content. WebP stores the length of a side
// in 14 bits.
const pictureHeightMax = { png: 16_384, jpeg: 16_384, webp: 16_383 } as const
/**
 * Maximum pixels of a picture. They are bounded, because a picture arrives as one message, and reading it blocks the
 * event loop.
 */
export const picturePixelsMax = 24_000_000
const captureTimeoutMs = 20_000
const qualityDefault = 80

/** Returns the maximum height of the picture, in CSS pixels. */
export function heightMaxOf(order: Pick<ScreenshotOrder, 'width' | 'deviceScale' | 'format'>): number {
  const { width, deviceScale = 1, format = 'png' } = order
  return Math.floor(
    Math.min(pictureHeightMax[format] / deviceScale, picturePixelsMax / (width * deviceScale * deviceScale)),
  )
}

export async function captureScreenshot(page: Page, order: ScreenshotOrder): Promise<CapturedPage> {
  const { format = 'png', quality = qualityDefault, fullPage, element } = order
  const options = { type: format, ...(format === 'png' ? {} : { quality }) }
  if (element === undefined && !fullPage) return pictureOf(await page.screenshot(options), false)
  const area = element === undefined ? await pageArea(page, order) : await elementArea(page, order, element)
  const { clip, isCut, isBeyond } = area
  return pictureOf(await page.screenshot({ ...options, clip, captureBeyondViewport: isBeyond }), isCut)
}

/**
 * Returns the area of the page to capture. `isBeyond`: the clip exceeds the viewport. Chromium then needs an option
 * with which it shifts a right-to-left page to the right.
 */
async function pageArea(page: Page, order: ScreenshotOrder) {
  const { width, height } = order
  const pageHeight = Math.ceil((await layoutOf(page)).cssContentSize.height)
  const heightMax = heightMaxOf(order)
  const clip = { x: 0, y: 0, width, height: Math.min(Math.max(pageHeight, height), heightMax) }
  return { clip, isCut: pageHeight > heightMax, isBeyond: clip.height > height }
}

async function elementArea(page: Page, order: ScreenshotOrder, selector: string) {
  const { width } = order
  const found = await page.$(selector).catch(() => null)
  const box = await found?.boundingBox()
  if (box === undefined || box === null || box.width < 1 || box.height < 1)
    throw new RenderFailure('unreachable', `no visible element of the page matches element: ${selector}`)
  // The box is relative to the viewport, which the URL's fragment or a script may have scrolled, and the clip to the
  // document.
  const { pageX, pageY } = (await layoutOf(page)).cssVisualViewport
  // An element can be wider than the viewport, so cut it at the width of the order.
  const size = { width: Math.ceil(Math.min(box.width, width)), height: Math.ceil(box.height) }
  const heightMax = heightMaxOf({ ...order, width: size.width })
  const [x, y] = [Math.max(box.x + pageX, 0), Math.max(box.y + pageY, 0)]
  const clip = { x, y, ...size, height: Math.min(size.height, heightMax) }
  const isCut = size.height > heightMax || size.width < Math.floor(box.width)
  const [left, top] = [x - pageX, y - pageY]
  const isBeyond = left < 0 || top < 0 || left + clip.width > width || top + clip.height > order.height
  return { clip, isCut, isBeyond }
}

function pictureOf(bytes: Uint8Array, clipped: boolean): CapturedPage {
  if (bytes.length > resultBytesMax) throw new RenderFailure('too_large', 'the picture is larger than 32 MiB')
  return { bytes, clipped, missing: [] }
}

/** Reads the layout from the browser, because scripts of the page can report any value. */
async function layoutOf(page: Page) {
  const session = await page.createCDPSession()
  const layout = await session.send('Page.getLayoutMetrics')
  await session.detach()
  return layout
}

/**
 * Height in CSS pixels to which a page is scrolled before printing. A taller document is printed whole, and the answer
 * reports the part that was not scrolled.
 */
export const documentHeightMax = 40_000

export async function capturePdf(page: Page, world: PageWorld, order: PdfOrder): Promise<CapturedPage> {
  const { format, margin, preferCSSPageSize = false, landscape = false, printBackground = true } = order
  const { pageRanges = '', outline = false, headerTemplate, footerTemplate } = order
  const { scale, missing } = await fitPaper(page, world, order)
  const options: PDFOptions = {
    format,
    margin,
    preferCSSPageSize,
    landscape,
    scale,
    printBackground,
    pageRanges,
    // Add the structure of the document for screen readers.
    tagged: true,
    outline,
    displayHeaderFooter: headerTemplate !== undefined || footerTemplate !== undefined,
    // Chromium replaces an empty template with its own header, so use an empty element.
    headerTemplate: headerTemplate ?? '<span></span>',
    footerTemplate: footerTemplate ?? '<span></span>',
    // The visit has waited for fonts already, and a missing font would delay the document until the deadline.
    waitForFonts: false,
    timeout: captureTimeoutMs,
  }
  try {
    return { bytes: await readBytes(await page.createPDFStream(options), resultBytesMax), clipped: false, missing }
  } catch (error) {
    if (error instanceof TooLong)
      throw new RenderFailure('too_large', 'the document is larger than 32 MiB', { cause: error })
    if (error instanceof Error && /page range/i.test(error.message))
      throw new RenderFailure('unreachable', `the document has no page of pageRanges ${pageRanges}`, { cause: error })
    throw error
  }
}
