import { Fault } from '@tollbook/core/fault'

/** The browser can reach the internet but not the network of the service. */
export interface Renderer {
  /** Hosts that may be rendered although their addresses are not public. Each has the form `name` or `name:port`. */
  readonly allowHosts: readonly string[]
  /** Undefined while jobs are accepted. Ignores the length of the queue, because a caller who has paid waits. */
  whyUnavailable(): string | undefined
  /** Undefined while quotes are given. A long queue is a reason to refuse them, unlike in `whyUnavailable`. */
  whyNoQuote(payer?: string): string | undefined
  /** A problem that operators must fix. Undefined unless no browser can be started. */
  problem(): string | undefined
  /** Rejects with a `RenderFailure`. Any other error is a bug. */
  screenshot(order: ScreenshotOrder, buyer: Buyer): Promise<Rendered>
  pdf(order: PdfOrder, buyer: Buyer): Promise<Rendered>
  close(): Promise<void>
}

export interface Buyer {
  readonly payer: string
  readonly payment: string
  readonly signal: AbortSignal
}

/** Settings of the browser that a page can observe. */
export interface PageSettings {
  /** BCP 47 language tag. Default: en-US. */
  readonly locale?: string
  /** IANA time zone name. Default: UTC. */
  readonly timezone?: string
  readonly colorScheme?: 'light' | 'dark'
  readonly geolocation?: { readonly latitude: number; readonly longitude: number }
}

export interface PageWaits {
  /** Default: `quiet`. The page has then loaded, no request is pending, and the document no longer changes. */
  readonly until?: 'domcontentloaded' | 'load' | 'quiet'
  /** CSS selector of an element that must become visible. */
  readonly waitFor?: string
  /** Pause before the capture, in milliseconds. */
  readonly delay?: number
}

export interface PageOptions extends PageSettings, PageWaits {
  /** CSS selector list of elements that are hidden. */
  readonly hide?: string
}

export type PictureFormat = 'png' | 'jpeg' | 'webp'

/** Sizes are CSS pixels. */
export interface ScreenshotOrder extends PageOptions {
  readonly url: string
  readonly width: number
  readonly height: number
  readonly fullPage: boolean
  /** Device pixels per CSS pixel. Default: 1. */
  readonly deviceScale?: number
  /** True to emulate a touch screen and apply the page's `viewport` rules. */
  readonly isMobile?: boolean
  /** CSS selector. Only the first matching element is captured. */
  readonly element?: string
  /** Default: png. */
  readonly format?: PictureFormat
  /** From 1 to 100, for jpeg and webp only. */
  readonly quality?: number
}

export type OrderedPage = { readonly url: string } | { readonly html: string } | { readonly markdown: string }

export interface PdfOrder extends PageOptions {
  readonly page: OrderedPage
  readonly format: 'A3' | 'A4' | 'A5' | 'Legal' | 'Letter' | 'Tabloid'
  readonly margin: Margin
  /** True to use the size in the page's `@page` rule instead of `format`. */
  readonly preferCSSPageSize?: boolean
  readonly landscape?: boolean
  /** Width between the margins, in CSS pixels. Absent: content that is wider than the paper is not reported. */
  readonly printableWidth?: number
  /**
   * Absent: with `printableWidth`, the largest scale from 0.3 to 1 at which the content fits. Otherwise, or if the page
   * sets its own paper size, 1.
   */
  readonly scale?: number
  readonly printBackground?: boolean
  /** Page ranges, such as `1-3, 5`. */
  readonly pageRanges?: string
  readonly outline?: boolean
  readonly headerTemplate?: string
  readonly footerTemplate?: string
}

/** CSS lengths, such as `1cm`. */
export interface Margin {
  readonly top: string
  readonly right: string
  readonly bottom: string
  readonly left: string
}

export const finalUrlLengthMax = 2_048
export const resultBytesMax = 32 * 1024 * 1024

export interface Rendered {
  readonly bytes: Uint8Array
  /** Undefined for a page that the caller sent. An error page, such as one with status 404, is rendered too. */
  readonly httpStatus: number | undefined
  /** Shortened, because a script can make it a megabyte long. Undefined for a page that the caller sent. */
  readonly finalUrl: string | undefined
  readonly missing: readonly MissingContent[]
  /** Distinct characters on the page that no font of this server can show. */
  readonly missingGlyphs: number
  /** True if the page is longer than a picture may be, or the element is longer or wider. */
  readonly clipped: boolean
  /** Requests whose target was a private network or a forbidden port. */
  readonly refusedRequests: number
}

export const missingReasons = [
  'resources_pending',
  'still_loading',
  'still_changing',
  'still_drawing',
  'timers_pending',
  'socket_silent',
  'too_wide',
  'lazy_content',
  'scroll_area',
  'unloaded_content',
  'wait_not_met',
] as const

export interface MissingContent {
  readonly reason: (typeof missingReasons)[number]
  /** Explanation for the caller, in one sentence. */
  readonly detail: string
}

export const renderFailureKinds = [
  /** The page has a forbidden address, or leads to one. */
  'forbidden',
  'unreachable',
  'timeout',
  /** The page fetched more bytes than a job may, or the result is too large. */
  'too_large',
  /** The browser or the process of the page ended. */
  'broken',
] as const
export type RenderFailureKind = (typeof renderFailureKinds)[number]

export class RenderFailure extends Fault {
  override readonly name = 'RenderFailure'
  readonly kind: RenderFailureKind
  /** True if another attempt is not worth its browser time, or if that time is used up. */
  readonly endsPayment: boolean

  constructor(kind: RenderFailureKind, message: string, { cause, endsPayment = false }: RenderFailureOptions = {}) {
    super(message, { cause, retryable: kind !== 'forbidden' })
    this.kind = kind
    this.endsPayment = endsPayment
  }
}

export interface RenderFailureOptions {
  readonly cause?: unknown
  readonly endsPayment?: boolean
}
