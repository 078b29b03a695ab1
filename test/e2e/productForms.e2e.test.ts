import { createHash } from 'node:crypto'
import { decodePaymentResponseHeader } from '@x402/fetch'
import { Receipt } from 'mppx'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { requestOf } from '../../src/product/productFacts.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { mppFetch } from '../support/mppClient.ts'
import { openX402Service, stockFetch, type X402Service } from '../support/x402Service.ts'
import { seedProducts } from '../support/seededProducts.ts'

/* Products of every form, bought over real HTTP by stock clients and by the native rail. */

const seeds = seedProducts()
const { reached } = seeds
let x402: X402Service

beforeAll(async () => {
  x402 = await openX402Service({ seams: { products: seeds.withSeeds } })
})
beforeEach(() => {
  reached.length = 0
})

const png = Buffer.from([0x89, 0x50, 0, 255, 13, 10])
const requests = seeds.products.map((product) => {
  const { method } = product
  const { target, body } = requestOf(product, product.example.order)
  const json: RequestInit = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const raw: RequestInit = { method, headers: { 'content-type': 'Image/PNG' }, body: png }
  const init = product.rawBody === undefined ? (body === undefined ? { method } : json) : raw
  return { name: `${method} ${product.path}`, product, target, init }
})

describe.each(['x402', 'mpp'] as const)('a stock client of %s', (rail) => {
  test.each(requests)('buys $name', async ({ name, product, target, init }) => {
    const { service, tokenMint: asset } = x402
    const { rpcUrl } = service.chain
    const pay = await (rail === 'x402'
      ? stockFetch(service.demoWallet, { rpcUrl, asset })
      : mppFetch(service.demoWallet, { rpcUrl }))
    const response = await pay(`${service.baseUrl}${rail === 'x402' ? '/x402' : ''}${target}`, init)
    expect(response.status).toBe(200)
    const { example, rawBody } = product
    const body = rawBody === undefined ? undefined : { contentType: 'Image/PNG', bytes: png }
    expect(reached).toEqual([{ product: name, parameters: example.order, body }])
    // A proxy with default buffers passes 4,096 bytes.
    const lines = [...response.headers].map(([header, value]) => `${header}: ${value}\r\n`)
    expect(lines.join('').length).toBeLessThanOrEqual(4_000)
    if (rail === 'x402')
      expect(decodePaymentResponseHeader(response.headers.get('payment-response') ?? '').success).toBe(true)
    else expect(Receipt.fromResponse(response).status).toBe('success')
    if (rawBody === undefined) expect(await response.json()).toMatchObject({ success: true, data: example.order })
    else {
      expect(response.headers.get('content-type')).toBe('Image/PNG')
      expect(response.headers.get('tollbook-receipt')).toMatch(/^ey/)
      expect(Buffer.from(await response.arrayBuffer()).equals(png)).toBe(true)
    }
  })
})

test.each(requests)('the headers of the 402 of $name have 3,500 bytes at most on every rail', async (request) => {
  const { target, init } = request
  const mounted = await fetch(`${x402.service.baseUrl}/x402${target}`, init)
  const headers = new Headers(init.headers)
  headers.set('x-wallet-address', x402.service.payer.address)
  const own = await fetch(`${x402.service.baseUrl}${target}`, { ...init, headers })
  for (const response of [mounted, own]) {
    expect(response.status).toBe(402)
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`)
    expect(lines.join('').length).toBeLessThanOrEqual(3_500)
  }
})

test('the x402 offer names the address that was asked for, and how others are formed', async () => {
  const { service } = x402
  const response = await fetch(`${service.baseUrl}/x402/toy/items/a%20b?size=l`)
  const required = z
    .object({ resource: z.looseObject({}), extensions: z.looseObject({ bazaar: z.looseObject({}) }) })
    .parse(JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()))
  expect(required.resource['url']).toBe(`${service.baseUrl}/x402/toy/items/a%20b`)
  expect(required.extensions.bazaar).toMatchObject({
    routeTemplate: '/x402/toy/items/:id',
    info: { input: { method: 'GET', pathParams: {} } },
  })
})

describe('an order', () => {
  const path = '/toy/items/42?size=s'
  const pay = async (order: { readonly path: string }) => {
    const payment = await x402.service.payer.sign(await askForQuote(x402.service, order))
    await x402.service.payer.send(payment)
    return Buffer.from(payment.signature).toString('base64')
  }

  test('is its path: a payment for one item buys another item once, and never both', async () => {
    const { service } = x402
    const proof = await pay({ path })
    expect(await ask(service, { path: '/toy/items/43', proof })).toMatchObject({
      status: 200,
      body: { data: { id: '43' } },
    })
    expect(await ask(service, { path, proof })).toMatchObject({ status: 402, body: { reason: 'already_used' } })
  })

  test('of a raw body is its bytes and their type', async () => {
    const { service } = x402
    const target = '/toy/pictures/cat'
    const send = (body: Uint8Array<ArrayBuffer>, type: string, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${service.baseUrl}${target}`, {
        method: 'POST',
        body,
        headers: { 'content-type': type, 'x-wallet-address': service.payer.address, ...headers },
      })
    const offer = await (await send(png, 'image/png')).json()
    const payment = await service.payer.sign(z.any().parse(offer))
    await service.payer.send(payment)
    const proof = {
      'x-payment-proof': Buffer.from(payment.signature).toString('base64'),
      'idempotency-key': 'picture-1',
    }
    const bought = await send(png, 'image/png', proof)
    expect(await sha256Of(bought)).toBe(await sha256Of(await send(png, 'image/png', proof)))
    expect(reached).toHaveLength(1)
    const other = Buffer.from([...png, 1])
    expect((await send(other, 'image/png', proof)).status).toBe(422)
    expect((await send(png, 'text/plain', proof)).status).toBe(422)
  })

  test.each([
    ['a type that is not accepted', '/toy/pictures/cat', 'image/gif', png, 415],
    ['JSON where bytes are expected', '/toy/pictures/cat', 'application/json', Buffer.from('{}'), 415],
    ['too many bytes', '/toy/pictures/cat', 'image/png', Buffer.alloc(2_001), 413],
    ['a parameter twice', '/toy/pictures/cat?name=dog', 'image/png', png, 400],
  ])('with %s is refused for free', async (_what, target, type, body, status) => {
    const headers = { 'content-type': type, 'x-wallet-address': x402.service.payer.address }
    expect((await fetch(`${x402.service.baseUrl}${target}`, { method: 'POST', body, headers })).status).toBe(status)
  })

  test('with a body where there is none is refused for free', async () => {
    const headers = { 'content-type': 'application/json', 'x-wallet-address': x402.service.payer.address }
    const init = { method: 'DELETE', body: '{"size":"l"}', headers }
    expect((await fetch(`${x402.service.baseUrl}/toy/notes/7`, init)).status).toBe(400)
  })
})

test('a tool whose argument spells the path of another product is refused, and has no price', async () => {
  const version = '2025-11-25'
  const call = async (method: string, params: object) => {
    const response = await fetch(`${x402.service.baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': version,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.text()).replace(/^event: message\ndata: /, '')
  }
  const shape = z.object({
    result: z.object({ tools: z.array(z.object({ name: z.string(), description: z.string() })) }),
  })
  const { tools } = shape.parse(JSON.parse(await call('tools/list', {}))).result
  const name = tools.find(({ description }) => description.includes('GET /toy/items/{id}'))?.name
  expect(await call('tools/call', { name, arguments: { id: 'old' } })).toContain('PAYMENT_REQUIRED')
  const refused = await call('tools/call', { name, arguments: { id: 'new' } })
  expect(refused).toContain('NOT_FOUND')
  expect(refused).not.toContain('PAYMENT_REQUIRED')
})

async function sha256Of(response: Response): Promise<string> {
  expect(response.status).toBe(200)
  return createHash('sha256')
    .update(Buffer.from(await response.arrayBuffer()))
    .digest('hex')
}
