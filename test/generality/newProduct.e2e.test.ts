import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { assert } from '@tollbook/core/assert'
import { productTable } from '../../scripts/productTables.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { fromProviders } from '../../src/products/catalog.ts'
import type { BuiltinProducts } from '../../src/start/builtin/loadGoods.ts'
import { ask, askForQuote, buy } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { products } from '../support/builtinProducts.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { countdownProduct } from './countdownProduct.ts'
import { lengthProduct } from './lengthProduct.ts'

/* Two products that no file of src knows: all that a service shows and charges is derived from their definitions. */

const withNew = (inner: BuiltinProducts) => [...inner, ...[lengthProduct, countdownProduct].map(fromProviders)]
const order = { path: '/api/tools/length?amount=3&unit=foot' }
let service: TestService

beforeAll(async () => {
  service = await openTestService({ seams: { products: withNew } })
  // A machine that is busy with the start refuses unpaid work for a moment.
  await awaitThat('the service accepts unpaid requests', async () => {
    return (await ask(service, { path: '/api/catalog' })).status === 200
  })
})

const catalogShape = z.object({
  data: z.object({ products: z.array(z.object({ path: z.string(), priceUSD: z.number() }).loose()) }),
})
const readCatalog = async (from: TestService) =>
  catalogShape.parse((await ask(from, { path: '/api/catalog' })).body).data.products
const operationShape = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ responses: z.record(z.string(), z.unknown()) }))),
})
const readOperation = async (path: string) =>
  operationShape.parse((await ask(service, { path: '/openapi.json' })).body).paths[path]?.['get']

describe('a new product', () => {
  test('is in the catalog, the last, at the price of its definition', async () => {
    expect((await readCatalog(service)).at(-2)).toMatchObject({
      path: '/api/tools/length',
      method: 'GET',
      summary: 'Length in metres',
      priceUSD: 0.0015,
      requiredTokens: 1.5,
      example: { amount: '3', unit: 'foot' },
      available: true,
    })
  })

  test('is in the OpenAPI document with its parameters, its example and its samples', async () => {
    expect(await readOperation('/api/tools/length')).toMatchObject({
      summary: 'Length in metres ($0.0015)',
      operationId: 'getLength',
      'x-price-usd': 0.0015,
      parameters: expect.arrayContaining([
        expect.objectContaining({ name: 'unit', in: 'query', required: true, example: 'foot' }),
      ]),
      responses: { '200': { content: { 'application/json': { example: { data: { metres: 0.9144 } } } } } },
    })
  })

  test('is a row of the table in docs/api.md', () => {
    expect(productTable([lengthProduct])).toContain(
      '| `GET /api/tools/length` | 0.0015 | `amount`: a decimal number of at most 12 digits · `unit`: inch, foot or mile |',
    )
  })

  test('is quoted, bought and delivered with a receipt, and its answer has the shape of its definition', async () => {
    expect(await askForQuote(service, order)).toMatchObject({
      pricing: { endpoint: '/api/tools/length', priceUSD: 0.0015 },
    })
    const sale = await buy(service, order)
    expect(sale).toMatchObject({ success: true, data: { metres: 0.9144 }, receipt: { requiredTokens: 1.5 } })
    expect(lengthProduct.answer.safeParse(sale.data).success).toBe(true)
  })

  test('refuses for free what its schema refuses', async () => {
    expect(await ask(service, { path: '/api/tools/length?amount=3&unit=yard' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', details: [{ field: 'unit' }] },
    })
  })

  test('is checked by the demo as its definition says', () => {
    const expectations: string[] = []
    const reader = { expect: (_holds: boolean, expectation: string) => void expectations.push(expectation) }
    const unused = () => {
      throw new Error('this product has no file')
    }
    const buyer = { ...reader, fetchFile: unused, readPicture: unused, readDrawing: unused, countPages: unused }
    expect(lengthProduct.demo.check({ metres: 1_609.344 }, buyer)).toBe('a mile has 1609.344 metres')
    expect(expectations).toEqual(['a mile has 1,609.344 metres'])
    expect(() => lengthProduct.demo.check({ feet: 1 }, buyer)).toThrow(/metres/)
  })
})

describe('the operator', () => {
  test('sets prices, and takes products out of the catalog, the document and the routes', async () => {
    const other = await openTestService({
      besides: service,
      seams: { products: withNew },
      env: { PRICES_USD: '/api/tools/length=0.25', PRODUCTS_OFF: '/api/data/crypto,/api/tools/countdown' },
    })
    const listed = await readCatalog(other)
    expect(listed.map(({ path }) => path)).toEqual([
      ...products.map(({ path }) => path).filter((path) => path !== '/api/data/crypto'),
      '/api/tools/length',
    ])
    expect(await askForQuote(other, order)).toMatchObject({ pricing: { priceUSD: 0.25, requiredTokens: 250 } })
    expect(await ask(other, { path: '/api/data/crypto?symbol=BTC' })).toMatchObject({ status: 404 })
    await other.close()
  })

  test('hears of every path that is not a product, and nothing starts', async () => {
    const env = { PRICES_USD: '/api/tools/fax=1', PRODUCTS_OFF: '/api/tools/telex' }
    await expect(openTestService({ besides: service, env })).rejects.toThrow(
      /2 mistakes:\n {2}PRICES_USD names "\/api\/tools\/fax".*\n {2}PRODUCTS_OFF names "\/api\/tools\/telex"/,
    )
  })
})

describe('a product that streams its answer', () => {
  test('is documented by its media type, without an envelope', async () => {
    const operation = await readOperation('/api/tools/countdown')
    expect(operation?.responses['200']).toMatchObject({
      content: { 'text/plain; charset=utf-8': { example: '3\n2\n1\n' } },
    })
  })

  test('is bought over HTTP, and comes as its media type without an envelope', async () => {
    const path = '/api/tools/countdown?from=5'
    const quote = await askForQuote(service, { path })
    expect(quote).toMatchObject({ pricing: { priceUSD: 0.002 } })
    const proof = await service.payer.pay(quote)
    const response = await fetch(`${service.baseUrl}${path}`, {
      headers: { 'x-wallet-address': service.payer.address, 'x-payment-proof': proof },
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(await response.text()).toBe('5\n4\n3\n2\n1\n')
    const again = await ask(service, { path, proof })
    expect(again).toMatchObject({ status: 402, body: { reason: 'already_used' } })
  })

  test('delivers chunks that are together its answer', async () => {
    const endpoint = openEndpoint(countdownProduct, { clock: systemClock })
    const read = endpoint.read({ from: '4' })
    assert(read.ok, 'the order is legal')
    const outcome = await read.deliver({
      signal: new AbortController().signal,
      requestId: 'request_1',
      payer: 'wallet',
      payment: 'payment',
    })
    assert(outcome.kind === 'stream', 'its answer is a stream')
    const chunks: Uint8Array[] = []
    for await (const chunk of outcome.chunks) chunks.push(chunk)
    const whole = Buffer.concat(chunks).toString()
    expect(whole).toBe('4\n3\n2\n1\n')
    expect(countdownProduct.answer.safeParse(whole).success).toBe(true)
    expect(outcome.contentType).toBe(endpoint.stream?.contentType)
  })

  test('stops when its job is aborted', async () => {
    const endpoint = openEndpoint(countdownProduct, { clock: systemClock })
    const read = endpoint.read({ from: '1000' })
    assert(read.ok, 'the order is legal')
    const late = new AbortController()
    const outcome = await read.deliver({
      signal: late.signal,
      requestId: 'request_1',
      payer: 'wallet',
      payment: 'payment',
    })
    assert(outcome.kind === 'stream', 'its answer is a stream')
    const chunks = outcome.chunks[Symbol.asyncIterator]()
    await chunks.next()
    late.abort()
    await expect(chunks.next()).rejects.toThrow(/abort/)
  })
})
