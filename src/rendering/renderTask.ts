import type { Page } from 'puppeteer'
import type { PageWorld } from './pageWorld.ts'
import type { MissingContent, OrderedPage, PageOptions } from './renderer.ts'
import type { Scroll } from './scrollPage.ts'

/** Target of a job, and its result. */
export interface RenderTask {
  readonly page: OrderedPage
  readonly viewport: Viewport
  readonly options: PageOptions
  readonly scroll: Scroll | undefined
  /** A document is laid out for paper, and printing waits for requests that nothing else bounds. */
  readonly isPrinted: boolean
  readonly capture: (page: Page, world: PageWorld) => Promise<CapturedPage>
}

export interface Viewport {
  readonly width: number
  readonly height: number
  readonly deviceScaleFactor: number
  readonly isMobile: boolean
}

/** `clipped`: the page is longer than the picture. `missing`: what the capture itself left out. */
export interface CapturedPage {
  readonly bytes: Uint8Array
  readonly clipped: boolean
  readonly missing: readonly MissingContent[]
}
