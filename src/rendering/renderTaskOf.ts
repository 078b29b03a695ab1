import { capturePdf, captureScreenshot, documentHeightMax, heightMaxOf } from './capture.ts'
import { viewportOfPdf } from './fitPaper.ts'
import type { RenderWork } from './renderEngine.ts'
import type { PdfOrder, ScreenshotOrder } from './renderer.ts'
import type { RenderTask } from './renderTask.ts'

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
