import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { defineProduct } from '../../src/product/productDefinition.ts'
import type { Outcome, ProductMethod, RawBody } from '../../src/product/product.ts'
import type { ProductFacts } from '../../src/product/productFacts.ts'
import { fromProviders } from '../../src/products/catalog.ts'
import type { BuiltinProducts } from '../../src/start/builtin/loadGoods.ts'

/** An order that reached its handler. */
export interface Reached {
  readonly product: string
  readonly parameters: Json
  readonly body: RawBody | undefined
}

const meta = { source: 'test', asOf: '2026-11-26T00:00:00.000Z', cached: false }

/**
 * Products of every form: methods, segments in the path, a raw body, a long schema. They record each order that reaches
 * them.
 */
export function seedProducts() {
  const reached: Reached[] = []
  const product = <P extends Readonly<Record<string, Json>>>(
    method: ProductMethod,
    path: string,
    facts: Pick<ProductFacts, 'rawBody' | 'bodyBytesMax' | 'stream'> | object,
    { parameters, order }: { readonly parameters: z.ZodType<P>; readonly order: Readonly<Record<string, Json>> },
  ) =>
    defineProduct({
      path,
      method,
      summary: `Test of ${method} ${path}`,
      priceMicroUsd: 1_000n,
      parameters,
      answer: z.json(),
      example: { order, answer: {} },
      providers: [],
      demo: { order: () => order, check: () => 'nothing is checked' },
      ...facts,
      open: () => ({
        whyUnavailable: () => undefined,
        deliver(given, { body }): Promise<Outcome> {
          reached.push({ product: `${method} ${path}`, parameters: given, body })
          return Promise.resolve(
            body === undefined
              ? { kind: 'delivered', data: given, meta }
              : { kind: 'raw', contentType: body.contentType, bytes: body.bytes, meta },
          )
        },
      }),
    })
  const id = z.string().max(40)
  const size = z.enum(['s', 'l']).exactOptional()
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `variable_${index}`,
      z
        .enum(['temperature_2m', 'relative_humidity_2m'])
        .meta({ description: 'x'.repeat(300) })
        .exactOptional(),
    ]),
  )
  const products = [
    product('GET', '/toy/items/{id}', {}, { parameters: z.strictObject({ id, size }), order: { id: '42', size: 's' } }),
    product('GET', '/toy/items/new', {}, { parameters: z.strictObject({ size }), order: { size: 's' } }),
    product('DELETE', '/toy/notes/{id}', {}, { parameters: z.strictObject({ id, size }), order: { id: '7' } }),
    product(
      'PUT',
      '/toy/notes/{id}/text',
      {},
      {
        parameters: z.strictObject({ id, text: z.string() }),
        order: { id: '7', text: 'hi' },
      },
    ),
    product(
      'PATCH',
      '/toy/tags/{tag}/of/{id}',
      {},
      {
        parameters: z.strictObject({ id, tag: id, color: z.string().exactOptional() }),
        order: { tag: 'a', id: '7', color: 'red' },
      },
    ),
    product(
      'POST',
      '/toy/pictures/{name}',
      {
        rawBody: { contentTypes: ['image/png', 'text/plain'] },
        bodyBytesMax: 2_000,
        stream: { contentType: 'image/png' },
      },
      {
        parameters: z.strictObject({ name: id, size }),
        order: { name: 'cat', size: 'l' },
      },
    ),
    product('GET', '/toy/forecast', {}, { parameters: z.strictObject(many), order: { variable_0: 'temperature_2m' } }),
  ]
  return { products, reached, withSeeds: (inner: BuiltinProducts) => [...inner, ...products.map(fromProviders)] }
}
