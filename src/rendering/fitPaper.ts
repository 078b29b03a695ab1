import type { Page } from 'puppeteer'
import type { PageWorld } from './pageWorld.ts'
import type { MissingContent, PdfOrder } from './renderer.ts'

// At this width, scripts that check the viewport choose the desktop layout.
export const viewportOfPdf = { width: 1_280, height: 720, deviceScaleFactor: 1, isMobile: false }
// At this scale, text of 16 pixels is 3.6 points high: readable when enlarged, and barely readable on paper.
const scaleMin = 0.3
// Fractions of pixels, borders and shadows do not count as too wide.
const slackPixels = 4

/**
 * Finds a scale at which the content fits the paper, because Chromium itself shrinks a page by a quarter at most, and
 * cuts off the rest. Keeps a scale in the order, and a paper size in the page's own rules.
 */
export async function fitPaper(page: Page, world: PageWorld, order: PdfOrder) {
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
    // The browser does not let scripts read the rules of another site.
    return false
  }
})`

// Measures tables and code too, because paper cannot scroll them.
const widestContent = `() => {
  const rights = [...document.querySelectorAll('table, pre')].slice(0, 5_000).map((element) => {
    const { left, width } = element.getBoundingClientRect()
    return width === 0 ? 0 : Math.max(0, left) + Math.max(width, element.scrollWidth)
  })
  return Math.ceil(rights.reduce((most, right) => Math.max(most, right), (document.scrollingElement ?? document.documentElement).scrollWidth))
}`
