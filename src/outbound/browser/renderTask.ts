import type { Page } from 'puppeteer'

/** Target of a job, and its result. */
export interface RenderTask {
  readonly page: { readonly url: string } | { readonly html: string }
  readonly viewport: { readonly width: number; readonly height: number }
  readonly capture: (page: Page) => Promise<Captured>
}

export interface Captured {
  readonly bytes: Uint8Array
  readonly clipped: boolean
}
