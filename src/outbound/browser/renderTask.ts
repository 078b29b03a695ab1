import type { Page } from 'puppeteer'

/** What a job visits, and what it takes from there. */
export interface RenderTask {
  readonly page: { readonly url: string } | { readonly html: string }
  readonly viewport: { readonly width: number; readonly height: number }
  readonly capture: (page: Page) => Promise<Captured>
}

export interface Captured {
  readonly bytes: Uint8Array
  readonly clipped: boolean
}
