import type { Page } from 'puppeteer'
import type { PageWorld } from './pageWorld.ts'
import type { MissingContent, PdfOrder } from './renderer.ts'

/** The scale at which a document is printed, and the content that is still cut off. */
export interface PaperFit {
  readonly scale: number
  readonly missing: readonly MissingContent[]
}

// Layout viewport of a page before printing; scripts that check the width see a desktop.
export const viewportOfPdf = { width: 1_280, height: 720, deviceScaleFactor: 1, isMobile: false }
// Text of 16 pixels is then 3.6 points high: a reader enlarges it, and paper shows it to good eyes.
const scaleMin = 0.3
// Fractions of pixels, borders and shadows.
const slackPixels = 4

/**
 * Shrinks a document that is wider than its paper: Chromium shrinks by a quarter at most and cuts off the rest. A scale
 * of the order, and paper of the page's own rules, are kept.
 */
export async function fitPaper(page: Page, world: PageWorld, order: PdfOrder): Promise<PaperFit> {
  const { printableWidth, scale: wanted } = order
  const plain = { scale: wanted ?? 1, missing: [] }
  if (printableWidth === undefined || (await world.run(hasOwnPaper)) === true) return plain
  const paperWidth = Math.floor(printableWidth / plain.scale)
  await page.setViewport({ ...viewportOfPdf, width: paperWidth })
  const contentWidth = Number(await world.run(widestContent))
  await page.setViewport(viewportOfPdf)
  if (!(contentWidth > paperWidth + slackPixels)) return plain
  const scale = wanted ?? Math.max(scaleMin, printableWidth / contentWidth)
  const shownWidth = Math.floor(printableWidth / scale)
  return { scale, missing: contentWidth > shownWidth + slackPixels ? [tooWide(contentWidth, shownWidth)] : [] }
}

function tooWide(contentWidth: number, shownWidth: number): MissingContent {
  const detail = `the content is ${contentWidth} pixels wide, and the paper shows at most ${shownWidth} of them`
  return { reason: 'too_wide', detail }
}

const hasOwnPaper = `() => [...document.styleSheets].some((sheet) => {
  try {
    return [...sheet.cssRules].some((rule) => rule instanceof CSSPageRule && rule.style.getPropertyValue('size') !== '')
  } catch {
    // Rules of another site cannot be read.
    return false
  }
})`

// Tables and code, also where the page lets them scroll by themselves, which paper cannot.
const widestContent = `() => {
  const rights = [...document.querySelectorAll('table, pre')].slice(0, 5_000).map((element) => {
    const { left, width } = element.getBoundingClientRect()
    return width === 0 ? 0 : Math.max(0, left) + Math.max(width, element.scrollWidth)
  })
  return Math.ceil(rights.reduce((most, right) => Math.max(most, right), (document.scrollingElement ?? document.documentElement).scrollWidth))
}`
