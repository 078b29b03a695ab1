import type { Page } from 'puppeteer'
import { capturePdf, type CapturedPage, captureScreenshot, documentHeightMax, heightMaxOf } from './capture.ts'
import { viewportOfPdf } from './fitPaper.ts'
import type { PageWorld } from './pageWorld.ts'
import type { RenderWork } from './renderEngine.ts'
import type { OrderedPage, PageOptions, PdfOrder, ScreenshotOrder } from './renderer.ts'
import type { Scroll } from './scrollPage.ts'

export interface RenderTask {
  readonly page: OrderedPage
  readonly viewport: typeof viewportOfPdf
  readonly options: PageOptions
  readonly scroll: Scroll | undefined
  /**
   * A PDF is laid out for print media. Its pending requests are ended first, because printing would wait for them
   * without a time limit.
   */
  readonly isPrinted: boolean
  readonly capture: (page: Page, world: PageWorld) => Promise<CapturedPage>
}

export function renderTaskOf(work: RenderWork): RenderTask {
  return work.kind === 'screenshot' ? screenshotTask(work.order) : pdfTask(work.order)
}

function screenshotTask(order: ScreenshotOrder): RenderTask {
  const { url, width, height, fullPage, deviceScale = 1, isMobile = false } = order
  return {
    page: { url },
    viewport: { width, height, deviceScaleFactor: deviceScale, isMobile },
    options: order,
    scroll: fullPage ? { heightMax: heightMaxOf(order), isCutThere: true } : undefined,
    isPrinted: false,
    capture: (page) => captureScreenshot(page, order),
  }
}

function pdfTask(order: PdfOrder): RenderTask {
  return {
    page: order.page,
    viewport: viewportOfPdf,
    options: order,
    scroll: { heightMax: documentHeightMax, isCutThere: false },
    isPrinted: true,
    capture: (page, world) => capturePdf(page, world, order),
  }
}
