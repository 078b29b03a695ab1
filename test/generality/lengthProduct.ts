import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { defineProduct, type ProductHandler } from '../../src/product/productDefinition.ts'
import { oneOf, text } from '../../src/product/text.ts'

/**
 * A new product as its author would write it: this file, and its name in src/product/builtinName.ts and
 * src/products/catalog.ts.
 */
const metresPer = { inch: 0.0254, foot: 0.3048, mile: 1_609.344 } as const

const parameters = z.strictObject({
  amount: text({
    expected: 'a decimal number of at most 12 digits',
    shown: { minLength: 1, maxLength: 13, pattern: '^[0-9]{1,6}([.][0-9]{1,6})?$' },
    test: (value) => /^\d{1,6}(\.\d{1,6})?$/.test(value),
  }),
  unit: oneOf(['inch', 'foot', 'mile']),
})

const answer = z.object({ metres: z.number().meta({ description: 'the length in metres' }) })

export const lengthProduct = defineProduct({
  path: '/api/tools/length',
  method: 'GET',
  summary: 'Length in metres',
  priceMicroUsd: 1_500n,
  parameters,
  answer,
  example: { order: { amount: '3', unit: 'foot' }, answer: { metres: 0.9144 } },
  providers: [],
  demo: {
    order: () => ({ amount: '1', unit: 'mile' }),
    check({ metres }, { expect }) {
      expect(metres === 1_609.344, 'a mile has 1,609.344 metres')
      return `a mile has ${metres} metres`
    },
  },
  open: ({ clock }: { readonly clock: Clock }): ProductHandler<z.infer<typeof parameters>> => ({
    whyUnavailable: () => undefined,
    deliver: ({ amount, unit }) =>
      Promise.resolve({
        kind: 'delivered',
        data: { metres: Number((Number(amount) * metresPer[unit]).toFixed(6)) },
        meta: { source: 'tollbook', asOf: isoTime(clock.nowMs()), cached: false },
      }),
  }),
})
