import type { Page } from 'puppeteer'
import { type PdfOrder, RenderFailure, type ScreenshotOrder } from './renderer.ts'
import type { Captured } from './renderTask.ts'

// Beyond 16,384 pixels the graphics library of the browser repeats or drops what it draws.
const pictureHeightMax = 16_384
// A picture is one message, and reading it blocks the event loop: 0.2 s for the worst, noise of this many pixels.
const picturePixelsMax = 24_000_000
const resultBytesMax = 32 * 1024 * 1024
const captureTimeoutMs = 20_000

/** As wide as the viewport; as high as it, or as the page up to the limit. */
export async function captureScreenshot(page: Page, order: ScreenshotOrder): Promise<Captured> {
  const { width, height, fullPage } = order
  if (!fullPage) return { bytes: checked(await page.screenshot({ type: 'png' })), clipped: false }
  const pageHeight = await contentHeight(page)
  const heightMax = Math.min(pictureHeightMax, Math.floor(picturePixelsMax / width))
  const clip = { x: 0, y: 0, width, height: Math.min(Math.max(pageHeight, height), heightMax) }
  const bytes = await page.screenshot({ type: 'png', clip, captureBeyondViewport: true })
  return { bytes: checked(bytes), clipped: pageHeight > heightMax }
}

function checked(bytes: Uint8Array): Uint8Array {
  if (bytes.length > resultBytesMax) throw new RenderFailure('too_large', 'the picture is larger than 32 MiB')
  return bytes
}

/** From the browser and not from the page's own scripts, which may say anything. */
async function contentHeight(page: Page): Promise<number> {
  const session = await page.createCDPSession()
  const { cssContentSize } = await session.send('Page.getLayoutMetrics')
  await session.detach()
  return Math.ceil(cssContentSize.height)
}

// Layout viewport of a page before printing; scripts that check the width see a desktop.
export const viewportOfPdf = { width: 1_280, height: 720 }

export async function capturePdf(page: Page, { format, margin }: PdfOrder): Promise<Captured> {
  const stream = await page.createPDFStream({ format, margin, printBackground: true, timeout: captureTimeoutMs })
  return { bytes: await readAll(stream), clipped: false }
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > resultBytesMax) throw new RenderFailure('too_large', 'the document is larger than 32 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
