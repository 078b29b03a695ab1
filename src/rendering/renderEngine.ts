import type { Standing } from './renderRecord.ts'
import type { PdfOrder, Rendered, ScreenshotOrder } from './renderer.ts'

/** Renders pages. Turns, payments and storage are the business of `openRenderer.ts`. */
export interface RenderEngine {
  /** Undefined when a browser is available. */
  whyUnavailable(): string | undefined
  /** Undefined unless no browser can be started; the problem, for operators. */
  problem(): string | undefined
  /** Throws `RenderFailure` and nothing else that is not a bug. */
  render(work: RenderWork, bounds: RenderBounds): Promise<Rendered>
  close(): Promise<void>
}

export type RenderWork =
  | { readonly kind: 'screenshot'; readonly order: ScreenshotOrder }
  | { readonly kind: 'pdf'; readonly order: PdfOrder }

/** Limits and signals of one job. */
export interface RenderBounds {
  /** Decides which browser renders the page. */
  readonly standing: Standing
  /** The job is ended after this time, whatever its page does. */
  readonly timeoutMs: number
  /** The caller has gone. */
  readonly signal: AbortSignal
  /** Others need the room of a page that gets nothing. */
  readonly hurry: AbortSignal
  /** The page has received nothing for a second, or has had its place for five. */
  readonly onStall: () => void
  /** The browser ended, with all its pages. */
  readonly onBrowserLost: () => void
  /** Called when the job enters a stage; for the log. */
  readonly onStage?: (stage: RenderStage) => void
}

/** `starting`: waits for a browser · `startingAlone`: for a separate one, because the last one ended or its page is a suspect's. */
export const renderStages = [
  'starting',
  'opening',
  'loading',
  'settling',
  'capturing',
  'closing',
  'startingAlone',
] as const
export type RenderStage = (typeof renderStages)[number]
