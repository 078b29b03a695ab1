import type { Page } from 'puppeteer'
import type { PageWorld } from './pageWorld.ts'
import type { MissingContent, OrderedPage, PageOptions } from './renderer.ts'
import type { Scroll } from './scrollPage.ts'

/** Target of a job, with the function that captures its result. */
export interface RenderTask {
  readonly page: OrderedPage
  readonly viewport: Viewport
  readonly options: PageOptions
  readonly scroll: Scroll | undefined
  /** True for a document: its layout is made for paper, and printing waits for requests without a bound. */
  readonly isPrinted: boolean
  readonly capture: (page: Page, world: PageWorld) => Promise<CapturedPage>
}

export interface Viewport {
  readonly width: number
  readonly height: number
  readonly deviceScaleFactor: number
  readonly isMobile: boolean
}

/**
 * Result of a capture. `clipped`: the page is longer than the picture. `missing`: content that the capture itself left
 * out.
 */
export interface CapturedPage {
  readonly bytes: Uint8Array
  readonly clipped: boolean
  readonly missing: readonly MissingContent[]
}
