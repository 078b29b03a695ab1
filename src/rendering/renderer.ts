import { Fault } from '@tollbook/core/fault'

/** Makes pictures and documents of pages, on a browser that can reach the world and not our network. */
export interface Renderer {
  /** Hosts that may be rendered though their addresses are not global: `name` or `name:port`. */
  readonly allowHosts: readonly string[]
  /** Undefined when a job can be taken now: a caller who has paid waits, however long the queue is. */
  whyUnavailable(): string | undefined
  /** The same before a payment, when a long queue is a reason too. */
  whyNoQuote(payer?: string): string | undefined
  /** Undefined unless no browser can be started; the problem, for operators. */
  problem(): string | undefined
  /** Throws `RenderFailure` and nothing else that is not a bug. */
  screenshot(order: ScreenshotOrder, customer: Customer): Promise<Rendered>
  pdf(order: PdfOrder, customer: Customer): Promise<Rendered>
  close(): Promise<void>
}

/** The buyer of a job, for fair turns and for the browser time that one payment buys. */
export interface Customer {
  readonly payer: string
  /** Reference of the payment. */
  readonly payment: string
  readonly signal: AbortSignal
}

/** Settings of the browser that a page can observe. */
export interface PageSettings {
  /** BCP 47. Default: en-US. */
  readonly locale?: string
  /** IANA name. Default: UTC. */
  readonly timezone?: string
  readonly colorScheme?: 'light' | 'dark'
  readonly geolocation?: { readonly latitude: number; readonly longitude: number }
}

/** Conditions for the capture, beyond a quiet page. */
export interface PageWaits {
  /** `quiet`, the default: loaded, no request pending, and the document no longer changing. */
  readonly until?: 'domcontentloaded' | 'load' | 'quiet'
  /** CSS selector of an element that must be visible. */
  readonly waitFor?: string
  /** Pause after everything else, in milliseconds. */
  readonly delay?: number
}

export interface PageOptions extends PageSettings, PageWaits {
  /** CSS selector list of elements that are not shown. */
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
  /** A touch screen, and the page's own `viewport` rules. */
  readonly isMobile?: boolean
  /** CSS selector: only the first such element is captured. */
  readonly element?: string
  /** Default: png. */
  readonly format?: PictureFormat
  /** For jpeg and webp, 1 to 100. */
  readonly quality?: number
}

/** A page of the web, or one that the caller sends. */
export type OrderedPage = { readonly url: string } | { readonly html: string } | { readonly markdown: string }

export interface PdfOrder extends PageOptions {
  readonly page: OrderedPage
  readonly format: 'A3' | 'A4' | 'A5' | 'Legal' | 'Letter' | 'Tabloid'
  readonly margin: Margin
  /** The size in an `@page` rule of the page is stronger than `format`. */
  readonly preferCSSPageSize?: boolean
  readonly landscape?: boolean
  /** CSS pixels between the margins. Without it, content that is wider than the paper is not noticed. */
  readonly printableWidth?: number
  /** Default: as large as fits the paper, 1 at most. */
  readonly scale?: number
  readonly printBackground?: boolean
  /** Such as `1-3, 5`. */
  readonly pageRanges?: string
  /** Bookmarks of the headings. */
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

/** A finished picture or document, and what the caller should know about it. */
export interface Rendered {
  readonly bytes: Uint8Array
  /** The page's own status; a page that says 404 is a page. Undefined for a page that was sent. */
  readonly httpStatus: number | undefined
  /** Address after redirects, or its beginning: a script can make it a megabyte long. */
  readonly finalUrl: string | undefined
  /** Empty: everything had loaded. Otherwise what was missing when the page was captured. */
  readonly missing: readonly MissingContent[]
  /** Distinct characters of the page that no font of this server can show. */
  readonly missingGlyphs: number
  /** The page is longer than a picture may be. */
  readonly clipped: boolean
  /** Requests of the page that were refused because they would have reached a private network or another port. */
  readonly refusedRequests: number
}

export const missingReasons = [
  /** Requests had no whole answer when loading was ended. */
  'resources_pending',
  /** Scripts kept fetching. */
  'still_loading',
  /** The document kept growing or shrinking. */
  'still_changing',
  /** A canvas kept changing. */
  'still_drawing',
  /** A timer that scripts had set has not run. */
  'timers_pending',
  /** A socket or a stream of events has not said anything. */
  'socket_silent',
  /** Content is wider than the paper, also when it is shrunk. */
  'too_wide',
  /** Scrolling never reached the end of the page. */
  'lazy_content',
  /** The main part of the page scrolls by itself. */
  'scroll_area',
  /** Content that scrolling had shown was removed again. */
  'unloaded_content',
  /** No element of `waitFor` became visible. */
  'wait_not_met',
] as const

/** Content that was missing when the page was captured. */
export interface MissingContent {
  readonly reason: (typeof missingReasons)[number]
  /** A sentence for the caller. */
  readonly detail: string
}

export const renderFailureKinds = [
  /** The page is, or leads to, an address that may not be reached. */
  'forbidden',
  /** No page was found at the address. */
  'unreachable',
  /** The job used up its time. */
  'timeout',
  /** More was fetched, or came out, than a job may. */
  'too_large',
  /** The browser or the page's process ended. */
  'broken',
] as const
export type RenderFailureKind = (typeof renderFailureKinds)[number]

export class RenderFailure extends Fault {
  override readonly name = 'RenderFailure'
  readonly kind: RenderFailureKind
  /** The payment has used up its browser time; no attempt with it is worth another. */
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
