import type { Standing } from './renderRecord.ts'
import type { PdfOrder, Rendered, ScreenshotOrder } from './renderer.ts'

/** Renders pages in browsers. `openRenderer.ts` handles turns, payments and storage. */
export interface RenderEngine {
  /** Undefined while a browser is available. */
  whyUnavailable(): string | undefined
  /** A problem that operators must fix. Undefined unless no browser can be started. */
  problem(): string | undefined
  /** Rejects with a `RenderFailure`. Any other error is a bug. */
  render(work: RenderWork, bounds: RenderBounds): Promise<Rendered>
  close(): Promise<void>
}

export type RenderWork =
  | { readonly kind: 'screenshot'; readonly order: ScreenshotOrder }
  | { readonly kind: 'pdf'; readonly order: PdfOrder }

export interface RenderBounds {
  /** Decides in which browser the page is rendered. */
  readonly standing: Standing
  readonly timeoutMs: number
  /** Aborted when the caller has disconnected. */
  readonly signal: AbortSignal
  /** Aborted when this stalled page must end its loading, because other pages need its memory. */
  readonly hurry: AbortSignal
  /**
   * Called when the page has received nothing for a second, or has had its place for five seconds. Also called after a
   * wait of a second for a browser.
   */
  readonly onStall: () => void
  /** Called when the browser has ended with all its pages. */
  readonly onBrowserLost: () => void
}
