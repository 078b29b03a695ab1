import type { MissingContent, PageOptions, RenderFailureKind } from '../../../src/rendering/renderer.ts'

/** A kind of page that is hard to capture, and the expected result of a capture. */
export interface CorpusPage {
  readonly name: string
  readonly html: string
  readonly options?: PageOptions
  /** Reasons in `missing`; none means that the page is complete. */
  readonly missing?: readonly string[]
  /** Reasons of the document, if paper lacks something else than a picture. */
  readonly missingOnPaper?: readonly string[]
  /** The page is taller than a picture may be. */
  readonly clipped?: true
  /** Some characters have no font, on a machine without fonts for them; a machine with such fonts has none missing. */
  readonly mayLackGlyphs?: true
  /** Requests that a whole capture makes. */
  readonly fetches?: readonly string[]
  /** Words that an independent reader finds in the document. */
  readonly says?: readonly string[]
  /** Words that it must not find. */
  readonly omits?: readonly string[]
  /** Number of pages on paper. */
  readonly sheets?: number
  /** Its picture depends on the moment. */
  readonly moves?: true
  /** Made to harm: its capture ends in one of these ways. */
  readonly endings?: readonly Ending[]
  /** There is nothing to sell: text of the failure. */
  readonly fails?: string
}

export type Ending =
  | { readonly marks: readonly MissingContent['reason'][]; readonly clipped?: true }
  | { readonly kind: RenderFailureKind; readonly message: string; readonly endsPayment: boolean }

export const filler = '<p>Some text that fills the page.</p>'.repeat(80)

/** Runs the script after load, when `app` is in the page. */
export const withApp = (script: string): string => `<div id="app"></div><script>${script}</script>`

export const late = (html: string, ms: number): string =>
  withApp(`setTimeout(async () => {
    await fetch('/data.json'); document.querySelector('#app').innerHTML = ${JSON.stringify(html)}
  }, ${ms})`)
