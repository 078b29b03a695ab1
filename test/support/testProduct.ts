import type { z } from 'zod'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { defineProduct, openEndpoint } from '../../src/product/productDefinition.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Job, Outcome, ProductMethod } from '../../src/product/product.ts'
import type { ProductOrder, RawBodyFacts } from '../../src/product/productFacts.ts'
import { z as schema } from 'zod'

export interface TestProduct<P extends Json> {
  readonly path: string
  readonly method?: ProductMethod
  readonly rawBody?: RawBodyFacts
  readonly parameters: z.ZodType<P>
  readonly example?: ProductOrder
  readonly deliver: (parameters: P, job: Job) => Promise<Outcome>
}

/** An endpoint of which a test cares about the handler alone; the rest of its definition is filled in. */
export function openTestEndpoint<P extends Json>({ deliver, example = {}, ...facts }: TestProduct<P>): Endpoint {
  const definition = defineProduct({
    method: 'GET',
    ...facts,
    summary: 'of a test',
    priceMicroUsd: 20_000n,
    answer: schema.unknown(),
    example: { order: example, answer: {} },
    providers: [],
    demo: { order: () => ({}), check: () => 'nothing is checked' },
    open: () => ({ whyUnavailable: () => undefined, deliver }),
  })
  return openEndpoint(definition, undefined)
}
