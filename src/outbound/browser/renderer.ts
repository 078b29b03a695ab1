import { Fault } from '@tollbook/core/fault'

/** Makes pictures and documents of pages, on a browser that can reach the world and not our network. */
export interface Renderer {
  /** Hosts that may be rendered though their addresses are not global: `name` or `name:port`. */
  readonly allowHosts: readonly string[]
  /** Undefined when a job can be taken now. */
  whyUnavailable(): string | undefined
  /** Undefined unless no browser can be started; the problem, for operators. */
  problem(): string | undefined
  /** Throws `RenderFailure` and nothing else that is not a bug. */
  screenshot(order: ScreenshotOrder, signal: AbortSignal): Promise<Rendered>
  pdf(order: PdfOrder, signal: AbortSignal): Promise<Rendered>
  close(): Promise<void>
}

export interface ScreenshotOrder {
  readonly url: string
  readonly width: number
  readonly height: number
  readonly fullPage: boolean
}

export interface PdfOrder {
  readonly page: { readonly url: string } | { readonly html: string }
  readonly format: 'A3' | 'A4' | 'A5' | 'Legal' | 'Letter' | 'Tabloid'
  readonly margin: Margin
}

export interface Margin {
  readonly top: string
  readonly right: string
  readonly bottom: string
  readonly left: string
}

export interface Rendered {
  readonly bytes: Uint8Array
  /** The page's own status; a page that says 404 is a page. Undefined for HTML that was given. */
  readonly httpStatus: number | undefined
  /** Address after redirects. */
  readonly finalUrl: string | undefined
  /** Everything had loaded; otherwise it was taken as it stood when the time was up. */
  readonly complete: boolean
  /** The page is longer than a picture may be. */
  readonly clipped: boolean
  /** Requests of the page that were refused because they would have reached a private network or another port. */
  readonly refusedRequests: number
}

/**
 * `forbidden`: the page is, or leads to, an address that may not be reached · `unreachable`: there is no page to be had ·
 * `timeout` · `too_large`: more was fetched, or came out, than a job may · `broken`: the browser or the page's process
 * ended.
 */
export type RenderFailureKind = 'forbidden' | 'unreachable' | 'timeout' | 'too_large' | 'broken'

export class RenderFailure extends Fault {
  override readonly name = 'RenderFailure'
  readonly kind: RenderFailureKind

  constructor(kind: RenderFailureKind, message: string, cause?: unknown) {
    super(message, { cause, retryable: kind !== 'forbidden' })
    this.kind = kind
  }
}
