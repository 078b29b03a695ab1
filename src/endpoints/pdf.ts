import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { pageCount } from './pageCount.ts'
import { readableSize } from './readableSize.ts'
import { type RenderDeps, renderOutcome } from './renderOutcome.ts'
import { targetUrl } from './screenshot.ts'
import { oneOf, text, utf8ByteCount } from './text.ts'

const htmlBytesMax = 512 * 1024
const paperFormats = ['A3', 'A4', 'A5', 'Legal', 'Letter', 'Tabloid'] as const

const html = text({
  expected: 'HTML of 1 byte to 512 KiB',
  allowBreaks: true,
  shown: { minLength: 1, maxLength: htmlBytesMax },
  test: (value) => value !== '' && utf8ByteCount(value) <= htmlBytesMax,
})

// Pixels of CSS in one of each unit.
const unitPixels = { px: 1, in: 96, cm: 96 / 2.54, mm: 9.6 / 2.54 } as const
// Five inches: a margin beyond that leaves no page.
const marginPixelsMax = 480
const length = /^(\d{1,3}(?:\.\d{1,4})?)(px|in|cm|mm)$/

const side = z
  .string({ error: 'must be a length such as "1cm"' })
  .refine(isMargin, 'must be a number with px, in, cm or mm, from 0 to 5 in')
  .meta({ description: 'such as 1cm, at most 5 in', pattern: length.source })

function isMargin(value: string): boolean {
  const pixels = pixelsOf(value)
  // 127 mm are five inches and a rounding error.
  return pixels !== undefined && pixels <= marginPixelsMax + 1e-6
}

function pixelsOf(value: string): number | undefined {
  const [, amount, unit] = length.exec(value) ?? []
  const known = Object.entries(unitPixels).find(([name]) => name === unit)
  return known === undefined ? undefined : Number(amount) * known[1]
}

const margin = z.strictObject(
  { top: side.exactOptional(), right: side.exactOptional(), bottom: side.exactOptional(), left: side.exactOptional() },
  { error: ({ code }) => (code === 'invalid_type' ? 'must be an object with top, right, bottom and left' : undefined) },
)

// What Chromium takes where nothing is said.
const marginDefault = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }

const paperInches: Record<(typeof paperFormats)[number], { readonly width: number; readonly height: number }> = {
  A3: { width: 11.7, height: 16.5 },
  A4: { width: 8.27, height: 11.7 },
  A5: { width: 5.83, height: 8.27 },
  Legal: { width: 8.5, height: 14 },
  Letter: { width: 8.5, height: 11 },
  Tabloid: { width: 11, height: 17 },
}
// Chromium refuses a page without room; below this a word has none.
const roomPixelsMin = 36

function leavesRoom(format: (typeof paperFormats)[number], given: z.infer<typeof margin> | undefined): boolean {
  const { top, right, bottom, left } = { ...marginDefault, ...given }
  const { width, height } = paperInches[format]
  const across = width * unitPixels.in - (pixelsOf(left) ?? 0) - (pixelsOf(right) ?? 0)
  const along = height * unitPixels.in - (pixelsOf(top) ?? 0) - (pixelsOf(bottom) ?? 0)
  return across >= roomPixelsMin && along >= roomPixelsMin
}

export function createPdf({ clock, renderer, artifacts, artifactUrl, allowHosts }: RenderDeps): Endpoint {
  return defineEndpoint({
    path: '/api/tools/pdf',
    method: 'POST',
    summary: 'PDF of HTML or of a web page',
    bodyBytesMax: 1024 * 1024,
    schema: z
      .strictObject({
        html: html.exactOptional(),
        url: targetUrl(allowHosts).exactOptional(),
        format: oneOf(paperFormats).default('A4'),
        margin: margin.exactOptional(),
      })
      .refine(({ html: given, url }) => (given === undefined) !== (url === undefined), {
        path: ['html'],
        message: 'send exactly one of html and url',
      })
      .meta({
        oneOf: [
          { type: 'object', properties: { html: { type: 'string' } }, required: ['html'] },
          { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
        ],
      })
      .refine(({ format, margin: given }) => leavesRoom(format, given), {
        path: ['margin'],
        message: 'must leave room for a page of this format',
      }),
    whyUnavailable: () => renderer.whyUnavailable() ?? artifacts.whyUnavailable(),
    handle: ({ html: given, url, format, margin: wanted }, { signal }) => {
      const page = url === undefined ? { html: given ?? '' } : { url }
      return renderOutcome(
        clock,
        () => renderer.pdf({ page, format, margin: { ...marginDefault, ...wanted } }, signal),
        async (bytes) => {
          const pages = await pageCount(bytes)
          const { name, expiresAt } = await artifacts.keep('application/pdf', bytes)
          return { data: { pdfUrl: artifactUrl(name), pages, size: readableSize(bytes.length) }, expiresAt }
        },
      )
    },
  })
}
