import { expect, test } from 'vitest'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { sha256Hex } from '@tollbook/core/digest'
import type { Job } from '../../src/product/product.ts'
import { defineProduct, onSale, openEndpoint, type ProductHandler } from '../../src/product/productDefinition.ts'
import { requestOf } from '../../src/product/productFacts.ts'
import { text } from '../../src/product/text.ts'

const order = z.strictObject({ size: z.int(), tag: z.string().exactOptional() })
type Order = z.infer<typeof order>

const jobs: Job[] = []
const handler: ProductHandler<Order> = {
  whyUnavailable: (parameters, payer) => `unavailable ${parameters?.size} ${payer}`,
  variant: ({ tag }) => (tag === 'big' ? tag : undefined),
  formerVariant: ({ tag }) => tag,
  deliver(parameters, job) {
    jobs.push(job)
    const meta = { source: 'test', asOf: '2026-11-20T12:00:00Z', cached: false }
    return Promise.resolve({ kind: 'delivered', data: parameters, meta })
  },
}
const definitionOf = (more: Partial<ProductHandler<Order>> = {}) =>
  defineProduct({
    path: '/items/{size}',
    method: 'POST',
    summary: 'Items',
    priceMicroUsd: 10n,
    parameters: order,
    answer: order,
    example: { order: { size: 1 }, answer: { size: 1 } },
    providers: [],
    demo: { order: () => ({ size: 1 }), check: ({ size }) => `${size} items` },
    open: (needs: { readonly isOpen: boolean }) => ({ ...handler, ...more, whyNoData: () => String(needs.isOpen) }),
  })

function read(input: unknown, more: Partial<ProductHandler<Order>> = {}, sent = {}) {
  const ordered = openEndpoint(definitionOf(more), { isOpen: true }).read(input, sent)
  assert(ordered.ok, 'the order is valid')
  return ordered
}

test('an order is judged by its own parameters and payer, before a quote and before its delivery', () => {
  const plain = read({ size: 3 })
  expect([plain.whyUnavailable('wallet'), plain.whyUndeliverable('wallet')]).toEqual([
    'unavailable 3 wallet',
    'unavailable 3 wallet',
  ])
  const patient = read({ size: 3 }, { whyUndeliverable: ({ size }, payer) => `undeliverable ${size} ${payer}` })
  expect(patient.whyUndeliverable('wallet')).toBe('undeliverable 3 wallet')
  expect(plain.whyNoData()).toBe('true')
  expect(plain).not.toHaveProperty('inputUnits')
  expect(read({ size: 3 }, { inputUnits: ({ size }) => size }).inputUnits).toBe(3)
})

test('an order names its variant, and the variant under which it was sold before', () => {
  const namesOf = ({ endpoint, formerEndpoint }: ReturnType<typeof read>) => [endpoint, formerEndpoint]
  expect(namesOf(read({ size: 1 }))).toEqual(['/items/{size}', '/items/{size}'])
  expect(namesOf(read({ size: 1, tag: 'small' }))).toEqual(['/items/{size}', '/items/{size}#small'])
  expect(namesOf(read({ size: 1, tag: 'big' }))).toEqual(['/items/{size}#big', '/items/{size}#big'])
})

test('a body and headers are part of the order, and reach the handler as they were sent', async () => {
  const sent = { body: { contentType: 'text/csv', bytes: Buffer.from('a,b') }, headers: { 'x-mode': 'fast' } }
  const ordered = read({ size: 1 }, {}, sent)
  expect(ordered.body).toEqual({ contentType: 'text/csv', digest: sha256Hex(sent.body.bytes) })
  expect(ordered.headers).toEqual(sent.headers)
  await ordered.deliver({ signal: new AbortController().signal, requestId: 'r', payer: 'p', payment: 'x' })
  expect(jobs.at(-1)).toMatchObject({ requestId: 'r', ...sent })
  expect(read({ size: 1 })).not.toHaveProperty('body')
})

test('only products on sale are left, at the prices of the sale', () => {
  const definition = definitionOf()
  expect(onSale([definition], [])).toEqual([])
  expect(onSale([definition], [{ ...definition, priceMicroUsd: 20n }])).toMatchObject([{ priceMicroUsd: 20n }])
})

test('an order fills the path, and the rest is the body, or the query of a GET and of a raw body', () => {
  const given = { id: 'a b', list: ['x', 1], flag: true, name: 'n' }
  const product = { path: '/items/{id}', method: 'POST' } as const
  expect(requestOf(product, given)).toEqual({ target: '/items/a%20b', body: { list: ['x', 1], flag: true, name: 'n' } })
  const target = '/items/a%20b?list=%5B%22x%22%2C1%5D&flag=true&name=n'
  expect(requestOf({ ...product, method: 'GET' }, given)).toEqual({ target, body: undefined })
  expect(requestOf({ ...product, rawBody: { contentTypes: ['text/csv'] } }, given)).toEqual({ target, body: undefined })
  expect(requestOf({ ...product, method: 'DELETE' }, { id: '1' })).toEqual({ target: '/items/1', body: undefined })
})

test('a text has no control characters and no half of a character, and breaks only where they are allowed', () => {
  const rule = { expected: 'any text', shown: { minLength: 0, maxLength: 9 }, test: () => true }
  const accepted = (value: string) =>
    [text(rule), text({ ...rule, allowBreaks: true })].map((schema) => schema.safeParse(value).success)
  expect(accepted('ü 🚀')).toEqual([true, true])
  for (const value of ['\ud83d', '\ude80', '\0', '\u007f', '\u0085']) expect(accepted(value)).toEqual([false, false])
  expect(accepted('a\t\r\nb')).toEqual([false, true])
})
