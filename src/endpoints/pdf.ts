import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { neverBuilt } from './neverBuilt.ts'
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

// Five inches in each unit: a margin beyond that leaves no page.
const marginMax = { px: 480, in: 5, cm: 12.7, mm: 127 } as const
const length = /^(\d{1,3}(?:\.\d{1,4})?)(px|in|cm|mm)$/

const side = z
  .string({ error: 'must be a length such as "1cm"' })
  .refine(isMargin, 'must be a number with px, in, cm or mm, from 0 to 5 in')
  .meta({ description: 'such as 1cm, at most 5 in', pattern: length.source })

function isMargin(value: string): boolean {
  const match = length.exec(value)
  if (match === null) return false
  const [, amount, unit] = match
  return Object.entries(marginMax).some(([name, most]) => name === unit && Number(amount) <= most)
}

const margin = z.strictObject(
  { top: side.exactOptional(), right: side.exactOptional(), bottom: side.exactOptional(), left: side.exactOptional() },
  { error: ({ code }) => (code === 'invalid_type' ? 'must be an object with top, right, bottom and left' : undefined) },
)

export function createPdf(): Endpoint {
  return defineEndpoint({
    path: '/api/tools/pdf',
    method: 'POST',
    summary: 'PDF of HTML or of a web page',
    bodyBytesMax: 1024 * 1024,
    schema: z
      .strictObject({
        html: html.exactOptional(),
        url: targetUrl.exactOptional(),
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
      }),
    ...neverBuilt('PDF documents'),
  })
}
