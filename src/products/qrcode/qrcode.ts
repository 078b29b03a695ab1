import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { createQrPool } from './qrPool.ts'
import { modulesFor } from './qrVersion.ts'
import { integer, oneOf, text, utf8ByteCount } from '../../product/text.ts'

const dataBytesMax = 2_048

const parameters = z
  .strictObject({
    data: text({
      expected: `text or a URL of 1 to ${dataBytesMax} bytes of UTF-8, at error correction level M`,
      allowBreaks: true,
      shown: { minLength: 1, maxLength: dataBytesMax },
      test: (value) => value !== '' && utf8ByteCount(value) <= dataBytesMax,
    }),
    size: integer({ min: 64, max: 2_048, default: 256 }).meta({
      description: 'pixels, enough for the data to be readable',
    }),
    format: oneOf(['png', 'svg']).default('png'),
  })
  .superRefine(({ data, size }, context) => {
    const pixels = modulesFor(utf8ByteCount(data))
    if (pixels !== undefined && size < pixels)
      context.addIssue({
        code: 'custom',
        path: ['size'],
        message: `must be at least ${pixels} for data of this length; a smaller code cannot be read`,
      })
  })

const answer = z.object({
  qrCode: z
    .string()
    .regex(/^data:image\/(png|svg\+xml);base64,/)
    .meta({ description: 'data URI of the picture' }),
  originalData: z.string().meta({ description: 'the text in the code, as it was sent' }),
  size: z
    .string()
    .regex(/^\d+x\d+$/)
    .meta({ description: 'width x height in pixels' }),
})

const demoOrder = { data: 'Also as vectors.', size: 200, format: 'svg' }

export const qrcode = defineProduct({
  path: '/api/tools/qrcode',
  method: 'POST',
  summary: 'QR code of a text or URL',
  priceMicroUsd: 5_000n,
  parameters,
  answer,
  example: {
    order: { data: 'https://example.com', size: 256, format: 'png' },
    answer: { qrCode: 'data:image/png;base64,iVBORw0KGgo…', originalData: 'https://example.com', size: '256x256' },
  },
  providers: [],
  demo: { order: () => demoOrder, check: checkDemo },
  open: openQrcode,
})

function openQrcode({ clock }: { readonly clock: Clock }): ProductHandler<z.infer<typeof parameters>> {
  const pool = createQrPool()
  return {
    whyUnavailable: () => (pool.isBusy() ? 'too many QR codes are being drawn' : undefined),
    async deliver({ data, size, format }, { signal }) {
      const qrCode = await pool.draw({ data, size, format }, signal)
      return {
        kind: 'delivered',
        data: { qrCode, originalData: data, size: `${size}x${size}` },
        meta: { source: 'tollbook', asOf: isoTime(clock.nowMs()), cached: false },
      }
    },
    close: () => pool.close(),
  }
}

function checkDemo(
  { qrCode, originalData, size }: z.infer<typeof answer>,
  { expect, readDrawing }: DemoCaller,
): string {
  expect(originalData === demoOrder.data && size === '200x200', 'text and size are those of the order')
  const [media, base64 = ''] = qrCode.split(',')
  expect(media === 'data:image/svg+xml;base64', 'the code is an SVG')
  const { width, height, pathCount } = readDrawing(Buffer.from(base64, 'base64').toString('utf8'))
  expect(width === demoOrder.size && height === demoOrder.size, `the SVG has the size of the order`)
  expect(pathCount > 0, 'a QR code has modules')
  return `a QR code as SVG of ${size}, which parses`
}
