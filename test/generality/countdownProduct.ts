import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { defineProduct, type ProductHandler } from '../../src/product/productDefinition.ts'
import { queryInteger } from '../../src/product/text.ts'

/** A product whose answer is streamed: one line for each step. */
const parameters = z.strictObject({ from: queryInteger({ min: 1, max: 1_000, default: 3 }) })
const contentType = 'text/plain; charset=utf-8'

export const countdownProduct = defineProduct({
  path: '/api/tools/countdown',
  method: 'GET',
  summary: 'Countdown, line by line',
  priceMicroUsd: 2_000n,
  parameters,
  answer: z.string().regex(/^(\d+\n)+$/),
  stream: { contentType },
  example: { order: { from: 3 }, answer: '3\n2\n1\n' },
  providers: [],
  demo: {
    order: () => ({ from: 2 }),
    check(lines, { expect }) {
      expect(lines === '2\n1\n', 'the countdown has every line')
      return 'a countdown of two lines'
    },
  },
  open: ({ clock }: { readonly clock: Clock }): ProductHandler<z.infer<typeof parameters>> => ({
    whyUnavailable: () => undefined,
    deliver: ({ from }, { signal }) =>
      Promise.resolve({
        kind: 'stream',
        contentType,
        chunks: countdown(from, signal),
        meta: { source: 'tollbook', asOf: isoTime(clock.nowMs()), cached: false },
      }),
  }),
})

async function* countdown(from: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let left = from; left >= 1; left--) {
    signal.throwIfAborted()
    yield Buffer.from(`${left}\n`)
  }
  await Promise.resolve()
}
