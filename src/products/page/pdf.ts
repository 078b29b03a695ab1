import { z } from 'zod'
import type { OrderedPage, PdfOrder } from '../../rendering/renderer.ts'
import { marginTemplate, marginText } from './marginText.ts'
import { pageCount } from './pageCount.ts'
import { pageOptions } from './pageOptions.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { readableSize } from './readableSize.ts'
import { openRendered, type RenderDeps } from './openRendered.ts'
import { targetUrl } from './screenshot.ts'
import { bounded, objectWith, oneOf, text, utf8ByteCount, yesOrNo } from '../../product/text.ts'

const pageBytesMax = 512 * 1024
const paperFormats = ['A3', 'A4', 'A5', 'Legal', 'Letter', 'Tabloid'] as const

const sentPage = (language: string) =>
  text({
    expected: `${language} of 1 byte to 512 KiB`,
    allowBreaks: true,
    shown: { minLength: 1, maxLength: pageBytesMax },
    test: (value) => value !== '' && utf8ByteCount(value) <= pageBytesMax,
  })

// CSS pixels per unit of length.
const inch = 96
const unitPixels = new Map([
  ['px', 1],
  ['in', inch],
  ['cm', inch / 2.54],
  ['mm', inch / 25.4],
])
// Five inches, at 96 CSS pixels per inch. A larger margin would leave too little of the page.
const marginPixelsMax = 480
const length = /^(\d{1,3}(?:\.\d{1,4})?)(px|in|cm|mm)$/

const side = z
  .string({ error: 'must be a length such as "1cm"' })
  .refine(isMargin, 'must be a number with px, in, cm or mm, from 0 to 5 in')
  .meta({ description: 'such as 1cm, in px, in, cm or mm, at most 5 in', pattern: length.source })

function isMargin(value: string): boolean {
  const pixels = pixelsOf(value)
  // Add a tolerance for rounding errors: 127 mm are exactly five inches.
  return pixels !== undefined && pixels <= marginPixelsMax + 1e-6
}

function pixelsOf(value: string): number | undefined {
  const [, amount, unit = ''] = length.exec(value) ?? []
  const pixels = unitPixels.get(unit)
  return pixels === undefined ? undefined : Number(amount) * pixels
}

const margin = z.strictObject(
  { top: side.exactOptional(), right: side.exactOptional(), bottom: side.exactOptional(), left: side.exactOptional() },
  objectWith('top, right, bottom and left'),
)

const pageRanges = text({
  expected: 'page numbers and ranges such as 1-3, 5',
  shown: { minLength: 1, maxLength: 100 },
  test: (value) =>
    value.length <= 100 &&
    /^\d{1,4}(-\d{1,4})?(, ?\d{1,4}(-\d{1,4})?)*$/.test(value) &&
    value.split(',').every((range) => arePages(range)),
})

/** True for a valid range of pages. Pages are numbered from 1, so a range that begins with 0 is refused. */
function arePages(range: string): boolean {
  const [first = 0, last = first] = range.split('-').map(Number)
  return first >= 1 && first <= last
}

const formatDefault = 'A4'
// The default margin of Chromium.
const marginDefault = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }

const paperInches: Record<(typeof paperFormats)[number], { readonly width: number; readonly height: number }> = {
  A3: { width: 11.7, height: 16.5 },
  A4: { width: 8.27, height: 11.7 },
  A5: { width: 5.83, height: 8.27 },
  Legal: { width: 8.5, height: 14 },
  Letter: { width: 8.5, height: 11 },
  Tabloid: { width: 11, height: 17 },
}
// Minimum of width and height between the margins, in CSS pixels. Chromium refuses a page without space between its
// margins.
const roomPixelsMin = 36

interface Paper {
  readonly format?: (typeof paperFormats)[number]
  readonly margin?: z.infer<typeof margin>
  readonly landscape?: boolean
}

/** Returns the space between the margins, in CSS pixels. */
function roomOf({ format = formatDefault, margin: given, landscape = false }: Paper) {
  const { top, right, bottom, left } = { ...marginDefault, ...given }
  const upright = paperInches[format]
  const { width, height } = landscape ? { width: upright.height, height: upright.width } : upright
  const across = width * inch - (pixelsOf(left) ?? 0) - (pixelsOf(right) ?? 0)
  const along = height * inch - (pixelsOf(top) ?? 0) - (pixelsOf(bottom) ?? 0)
  return { across, along }
}

function leavesRoom(paper: Paper): boolean {
  const { across, along } = roomOf(paper)
  return across >= roomPixelsMin && along >= roomPixelsMin
}

const parametersWith = (allowHosts: readonly string[]) =>
  z
    .strictObject({
      html: sentPage('HTML').exactOptional(),
      markdown: sentPage('Markdown')
        .exactOptional()
        .meta({ description: 'Markdown of 1 byte to 512 KiB, with tables; HTML in it is shown as text' }),
      url: targetUrl(allowHosts).exactOptional(),
      format: oneOf(paperFormats).exactOptional().meta({ default: formatDefault }),
      margin: margin.exactOptional(),
      preferCSSPageSize: yesOrNo
        .exactOptional()
        .meta({ description: 'an @page size of the page is stronger than format; default: true without format' }),
      landscape: yesOrNo.exactOptional().meta({ default: false }),
      scale: bounded(0.1, 2).exactOptional().meta({ default: 1, description: 'size of the content' }),
      printBackground: yesOrNo.exactOptional().meta({ default: true }),
      pageRanges: pageRanges.exactOptional(),
      outline: yesOrNo.exactOptional().meta({ default: false, description: 'bookmarks made of the headings' }),
      header: marginText.exactOptional(),
      footer: marginText.exactOptional(),
      ...pageOptions,
    })
    .refine(({ html, markdown, url }) => [html, markdown, url].filter((page) => page !== undefined).length === 1, {
      path: ['html'],
      message: 'send exactly one of html, markdown and url',
    })
    .meta({
      // States the rule of the refinement again, because a JSON Schema cannot contain a refinement.
      oneOf: [
        { type: 'object', properties: { html: { type: 'string' } }, required: ['html'] },
        { type: 'object', properties: { markdown: { type: 'string' } }, required: ['markdown'] },
        { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
      ],
    })
    .refine(leavesRoom, {
      path: ['margin'],
      message: 'must leave room for a page of this format',
    })

const answer = z.object({
  pdfUrl: z.string().meta({ format: 'uri', description: 'address of the document, until it expires' }),
  pages: z.number(),
  size: z
    .string()
    .regex(/^\d+(\.\d+)? [kKMG]?i?B$/)
    .meta({ description: 'for people, such as 12.3 KB' }),
})

const demoPages = 3
const demoHtml = Array.from({ length: demoPages }, (_, page) => `<h1>Page ${page + 1}</h1>`).join(
  '<div style="break-after: page"></div>',
)

export const pdf = defineProduct({
  path: '/api/tools/pdf',
  method: 'POST',
  summary: 'PDF of HTML, Markdown or a web page',
  priceMicroUsd: 80_000n,
  parameters: parametersWith([]),
  answer,
  example: {
    order: { html: '<h1>Hello</h1>', format: 'A4', margin: { top: '1cm' } },
    answer: { pdfUrl: 'https://tollbook.example/artifacts/gb3swTAuxnPZDc.pdf', pages: 1, size: '12.3 KB' },
  },
  providers: [],
  // Enough for the longest HTML, with a quarter more for JSON escapes. The body is bounded because parsing time grows
  // with its size.
  bodyBytesMax: 640 * 1024,
  demo: { order: () => ({ html: demoHtml }), check: checkDemo },
  open: openPdf,
})

function openPdf(deps: RenderDeps): ProductHandler<z.infer<ReturnType<typeof parametersWith>>> {
  return openRendered(deps, {
    parameters: parametersWith(deps.allowHosts),
    render: (order, job) => deps.renderer.pdf(pdfOrder(order), job),
    contentType: () => 'application/pdf',
    urlField: 'pdfUrl',
    describe: async (bytes) => ({ pages: await pageCount(bytes), size: readableSize(bytes.length) }),
  })
}

function pdfOrder(order: z.infer<ReturnType<typeof parametersWith>>): PdfOrder {
  const { html, markdown, url, format, margin: wanted, header, footer, ...options } = order
  return {
    // Without `format`, the paper is that of the page's `@page` rule, if it has one.
    preferCSSPageSize: format === undefined,
    ...options,
    page: pageOf({ html, markdown, url }),
    format: format ?? formatDefault,
    margin: { ...marginDefault, ...wanted },
    // Wider content is shrunk to this width, unless the order has a `scale`.
    printableWidth: roomOf(order).across,
    ...(header === undefined ? {} : { headerTemplate: marginTemplate(header) }),
    ...(footer === undefined ? {} : { footerTemplate: marginTemplate(footer) }),
  }
}

function pageOf({ html, markdown, url }: { [name in 'html' | 'markdown' | 'url']: string | undefined }): OrderedPage {
  if (url !== undefined) return { url }
  return markdown === undefined ? { html: html ?? '' } : { markdown }
}

async function checkDemo({ pdfUrl, pages, size }: z.infer<typeof answer>, caller: DemoCaller): Promise<string> {
  const { contentType, bytes } = await caller.fetchFile(pdfUrl)
  caller.expect(contentType === 'application/pdf', `the document is application/pdf, not ${contentType}`)
  const counted = await caller.countPages(bytes)
  caller.expect(pages === demoPages && counted === pages, `the document has ${demoPages} pages, not ${counted}`)
  return `a document of ${pages} pages, ${size}, ${pdfUrl}`
}
