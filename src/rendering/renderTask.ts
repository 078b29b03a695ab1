import type { Page } from 'puppeteer'
import type { OrderedPage, PageOptions } from './renderer.ts'
import type { Scroll } from './scrollPage.ts'

/** Target of a job, and its result. */
export interface RenderTask {
  readonly page: OrderedPage
  readonly viewport: Viewport
  readonly options: PageOptions
  readonly scroll: Scroll | undefined
  /** A document is laid out for paper, and printing waits for requests that nothing else bounds. */
  readonly isPrinted: boolean
  readonly capture: (page: Page) => Promise<CapturedPage>
}

export interface Viewport {
  readonly width: number
  readonly height: number
  readonly deviceScaleFactor: number
  readonly isMobile: boolean
}

/** `clipped`: the page is longer than the picture. */
export interface CapturedPage {
  readonly bytes: Uint8Array
  readonly clipped: boolean
}
