import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import type { QrPool } from './qrPool.ts'
import { modulesFor } from './qrVersion.ts'
import { integer, oneOf, text, utf8ByteCount } from './text.ts'

const dataBytesMax = 2_048

const schema = z
  .strictObject({
    data: text({
      expected: `text or a URL of 1 to ${dataBytesMax} bytes of UTF-8`,
      allowBreaks: true,
      shown: { minLength: 1, maxLength: dataBytesMax },
      test: (value) => value !== '' && utf8ByteCount(value) <= dataBytesMax,
    }),
    size: integer({ min: 64, max: 2_048, default: 256 }),
    format: oneOf(['png', 'svg']).default('png'),
  })
  .superRefine(({ data, size }, context) => {
    const pixels = modulesFor(utf8ByteCount(data))
    if (size < pixels)
      context.addIssue({
        code: 'custom',
        path: ['size'],
        message: `must be at least ${pixels} for data of this length, or nobody could read the code`,
      })
  })

export interface QrcodeDeps {
  readonly pool: QrPool
  readonly clock: Clock
}

export function createQrcode({ pool, clock }: QrcodeDeps): Endpoint {
  return defineEndpoint({
    path: '/api/tools/qrcode',
    method: 'POST',
    summary: 'QR code of a text or URL',
    schema,
    whyUnavailable: () => (pool.isBusy() ? 'too many QR codes are being drawn' : undefined),
    async handle({ data, size, format }, { signal }) {
      const qrCode = await pool.draw({ data, size, format }, signal)
      return {
        kind: 'delivered',
        data: { qrCode, originalData: data, size: `${size}x${size}` },
        meta: { source: 'tollbook', asOf: isoTime(clock.nowMs()), cached: false },
      }
    },
  })
}
