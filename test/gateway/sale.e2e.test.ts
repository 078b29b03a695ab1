import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { quoteBody } from '@tollbook/core/wire'
import { toolRequest } from '../proofs/callTool.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { answersJson, answersText, openLoopbackServer } from '../support/loopbackServer.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { toolResult } from '../support/toolResult.ts'

/* Products of a file, sold over real HTTP, with a real server behind them. */

const api = await openLoopbackServer(answersJson(200, { ok: true }))

async function writeProducts(): Promise<string> {
  const file = join(await makeScratchDirectory(), 'tollbook.yaml')
  await writeFile(
    file,
    `
version: 1
upstreams:
  acme: { url: ${api.url}/v1, headers: { x-api-key: "\${ACME_KEY}" }, timeout: 20s, max_response: 16KiB }
routes:
  - path: /acme/item
    summary: One item
    upstream: acme
    to: /items/{id}
    price: { usd: "0.01" }
    parameters:
      type: object
      required: [id]
      properties: { id: { type: string, maxLength: 20 }, limit: { type: integer, minimum: 1, maximum: 5 } }
    example: { id: a1 }
    success: { json: { pointer: /ok, equals: true } }
  - path: /acme/items/{id}
    method: DELETE
    summary: Deletes an item
    upstream: acme
    to: /items/{id}
    price: { usd: "0.02" }
    parameters: { required: [id], properties: { id: { type: integer, minimum: 1 }, reason: { type: string } } }
    example: { id: 1 }
    answer: envelope
    max_response: 16MiB
  - path: /llm/v1/chat/completions
    method: POST
    summary: Chat
    upstream: acme
    to: /chat/completions
    price: { by: /model, usd: { small: "0.002", large: "0.03" } }
    parameters:
      required: [model]
      properties: { model: { enum: [small, large] }, stream: { type: boolean } }
    example: { model: small }
    stream: passthrough
    success: { ends_with: "[DONE]" }
    forward: { request: [accept-language] }
  - path: /acme/rows
    summary: Rows
    upstream: acme
    to: /rows
    price: { usd: "0.001", per: /n }
    parameters: { required: [n], properties: { n: { type: integer, minimum: 1, maximum: 20 } } }
    example: { n: 5 }
  - path: /acme/scan
    method: PUT
    summary: Reads a picture
    upstream: acme
    to: /scan
    price: { usd: "0.04" }
    body: { content_types: [image/png], max: 1KiB }
    content_types: [text/*]
`,
  )
  return file
}

let service: TestService

beforeAll(async () => {
  process.env['ACME_KEY'] = 's3cret'
  service = await openTestService({
    sellsTabs: true,
    env: { PRODUCTS_FILE: await writeProducts() },
  })
})

beforeEach(() => {
  api.asked.length = 0
  api.script(answersJson(200, { ok: true, name: 'a' }))
})

interface Init {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** A paid request whose answer is not the envelope. */
async function buyRaw(path: string, proof: string, init: Init = {}): Promise<Response> {
  const headers = { ...init.headers, 'x-wallet-address': service.payer.address, 'x-payment-proof': proof }
  return fetch(`${service.baseUrl}${path}`, { ...init, headers })
}

const payFor = async (path: string) => service.payer.pay(await askForQuote(service, { path }))

/** Buys with any method: asks for the price, pays, and asks again. */
async function buyBy(path: string, init: Init): Promise<{ readonly priceUsd: number; readonly response: Response }> {
  const headers = { ...init.headers, 'x-wallet-address': service.payer.address }
  const offer = await fetch(`${service.baseUrl}${path}`, { ...init, headers })
  expect(offer.status).toBe(402)
  const quote = quoteBody.parse(await offer.json())
  return { priceUsd: quote.pricing.priceUSD, response: await buyRaw(path, await service.payer.pay(quote), init) }
}

const chat = (body: object, headers = {}): Init => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

describe('a route of the file', () => {
  test('with a value in its path is paid by the client, by itself, by a tab and as a tool', async () => {
    const rpcUrl = service.chain.rpcUrl
    const limit = { perRequest: { usd: '0.1' }, total: { usd: '2' } }
    const wallet = keypairWallet(service.demoWallet)
    const payer = { wallet, rpcUrl, expectedMint: service.mint, spendingLimit: limit }
    const remove = (id: number) => [`${service.baseUrl}/acme/items/${id}?reason=old`, { method: 'DELETE' }] as const
    expect((await createPayingFetch(payer)(...remove(1))).status).toBe(200)
    const payingFetch = createPayingFetch({ ...payer, tab: { depositUsd: 1 } })
    expect([(await payingFetch(...remove(2))).status, (await payingFetch(...remove(3))).status]).toEqual([200, 200])
    const { path, ...call } = toolRequest({ name: 'acme_items_id', arguments: { id: 4, reason: 'old' }, meta: {} })
    const { result } = z
      .object({ result: toolResult })
      .parse(await (await payingFetch(service.baseUrl + path, call)).json())
    expect(result).toMatchObject({ isError: false, structuredContent: { data: { ok: true, name: 'a' } } })
    expect(api.asked.map((each) => each.path)).toEqual([1, 2, 3, 4].map((id) => `/v1/items/${id}?reason=old`))
    expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '940000000' })
  })

  test('is sold as the API wrote it, with a receipt, and asks the API once with the key of the operator', async () => {
    const proof = await payFor('/acme/item?id=a%201&limit=2')
    expect(api.asked).toEqual([])
    const response = await buyRaw('/acme/item?id=a%201&limit=2', proof)
    expect([response.status, await response.text()]).toEqual([200, '{"ok":true,"name":"a"}'])
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('tollbook-receipt')).toMatch(/^ey/)
    expect(api.asked).toHaveLength(1)
    const [asked] = api.asked
    expect([asked?.method, asked?.path, asked?.body]).toEqual(['GET', '/v1/items/a%201?limit=2', ''])
    expect(asked?.headers).toMatchObject({
      'x-api-key': 's3cret',
      'accept-encoding': 'identity',
      host: new URL(api.url).host,
      'x-tollbook-payer': service.payer.address,
    })
    expect(asked?.headers).not.toHaveProperty('x-payment-proof')
  })

  test('is in the catalog with its schema, and nothing that is built in is', async () => {
    const { body } = await ask(service, { path: '/api/catalog' })
    expect(body['data']).toMatchObject({
      products: expect.arrayContaining([
        expect.objectContaining({
          path: '/acme/item',
          parameters: expect.objectContaining({ additionalProperties: false }),
        }),
      ]),
    })
    expect(await ask(service, { path: '/openapi.json' })).toMatchObject({ status: 200 })
    expect((await ask(service, { path: '/api/data/weather?city=Bern' })).status).toBe(404)
  })

  test('refuses parameters that its schema does not allow, free of charge', async () => {
    for (const path of ['/acme/item', '/acme/item?id=a&limit=9', '/acme/item?id=a&limit=x', '/acme/item?id=a&more=1'])
      expect(await ask(service, { path })).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } })
    for (const id of ['..', '%2e%2e', 'a%2Fb', 'a%5Cb', 'a%3Fb', '%00', ''])
      expect(await ask(service, { path: `/acme/item?id=${id}` })).toMatchObject({ status: 400 })
    expect(api.asked).toEqual([])
  })

  test('does not charge for a failure, and the same proof buys afterwards', async () => {
    const proof = await payFor('/acme/item?id=b')
    api.script(answersJson(500, { secret: 'stack' }))
    const failed = await ask(service, { path: '/acme/item?id=b', proof })
    expect(failed).toMatchObject({ status: 502, body: { code: 'UPSTREAM_FAILED' } })
    expect(JSON.stringify(failed.body)).not.toContain('stack')
    api.script(answersJson(200, { ok: false }))
    expect(await ask(service, { path: '/acme/item?id=b', proof })).toMatchObject({ status: 502 })
    api.script(answersJson(404, {}))
    expect(await ask(service, { path: '/acme/item?id=b', proof })).toMatchObject({ body: { code: 'NO_DATA' } })
    api.script(answersJson(200, { ok: true }))
    expect((await buyRaw('/acme/item?id=b', proof)).status).toBe(200)
  })
})

describe('other routes', () => {
  test('take a parameter from the path, by DELETE, and answer in the envelope', async () => {
    const { priceUsd, response } = await buyBy('/acme/items/7?reason=old%20%26%20used', { method: 'DELETE' })
    expect([priceUsd, response.status]).toEqual([0.02, 200])
    expect(await response.json()).toMatchObject({
      success: true,
      data: { ok: true, name: 'a' },
      meta: { source: 'acme' },
    })
    expect(api.asked.map(({ method, path }) => [method, path])).toEqual([['DELETE', '/v1/items/7?reason=old+%26+used']])
    for (const path of ['/acme/items/..', '/acme/items/%2e%2e', '/acme/items/1%2F2', '/acme/items/01', '/acme/items/x'])
      expect((await fetch(service.baseUrl + path, { method: 'DELETE' })).status).toBeGreaterThanOrEqual(400)
    expect(api.asked).toHaveLength(1)
  })

  test('repeat a long answer for a caller who did not receive it', async () => {
    const item = { path: '/acme/items/8', method: 'DELETE', headers: { 'x-wallet-address': service.payer.address } }
    const offer = await fetch(service.baseUrl + item.path, item)
    const proof = await service.payer.pay(quoteBody.parse(await offer.json()))
    const cut = new AbortController()
    const long = { ok: true, text: 'a'.repeat(2_000_000) }
    api.script((asked, response) => {
      cut.abort()
      answersJson(200, long)(asked, response)
    })
    await expect(buyRaw(item.path, proof, { ...item, signal: cut.signal })).rejects.toThrow('aborted')
    let repeated = new Response()
    await awaitThat('the first request ends', async () => {
      repeated = await buyRaw(item.path, proof, item)
      return repeated.status !== 409
    })
    expect([repeated.status, await repeated.json()]).toMatchObject([200, { data: long }])
    expect(api.asked).toHaveLength(1)
  })

  test('are not charged for an envelope that is too long to store', async () => {
    api.script(answersJson(200, { ok: true, text: 'a'.repeat(9_000_000) }))
    const { response } = await buyBy('/acme/items/9', { method: 'DELETE' })
    expect([response.status, await response.json()]).toMatchObject([502, { code: 'UPSTREAM_FAILED' }])
  })

  test('cost what the parameter costs, and stream', async () => {
    api.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[]}\n\n')
      response.end('data: [DONE]\n\n')
    })
    const order = chat({ model: 'large', stream: true }, { 'accept-language': 'de' })
    const { priceUsd, response } = await buyBy('/llm/v1/chat/completions', order)
    expect(priceUsd).toBe(0.03)
    expect(await response.text()).toMatch(/^data: \{"choices":\[\]\}\n\ndata: \[DONE\]\n\n/)
    expect(api.asked[0]).toMatchObject({
      body: '{"model":"large","stream":true}',
      headers: { 'accept-language': 'de' },
    })
    const small = await fetch(`${service.baseUrl}/llm/v1/chat/completions`, chat({ model: 'small' }))
    expect(small.status).toBe(401)
  })

  test('are bound to the headers that pass on: another language is another order', async () => {
    api.script((asked, response) => answersJson(200, { language: asked.headers['accept-language'] })(asked, response))
    const path = '/llm/v1/chat/completions'
    const order = (language: string) => chat({ model: 'small' }, { 'accept-language': language })
    const headers = { ...order('de').headers, 'x-wallet-address': service.payer.address }
    const offer = await fetch(service.baseUrl + path, { ...order('de'), headers })
    const proof = await service.payer.pay(quoteBody.parse(await offer.json()), 'boundSignature')
    expect(await (await buyRaw(path, proof, order('de'))).text()).toBe('{"language":"de"}')
    const [same, other] = [await buyRaw(path, proof, order('de')), await buyRaw(path, proof, order('fr'))]
    expect([same.status, await same.text(), other.status]).toEqual([200, '{"language":"de"}', 402])
  })

  test('cost what the quantity costs, and the price list has the price', async () => {
    const { priceUsd, response } = await buyBy('/acme/rows?n=12', {})
    expect([priceUsd, response.status, api.asked[0]?.path]).toEqual([0.012, 200, '/v1/rows?n=12'])
  })

  test('pass a picture on as it is', async () => {
    api.script(answersText(200, 'a cat', { 'content-type': 'text/plain; charset=utf-8' }))
    const picture = { method: 'PUT', headers: { 'content-type': 'image/png' }, body: 'PNG' }
    const { response } = await buyBy('/acme/scan', picture)
    expect([response.headers.get('content-type'), await response.text()]).toEqual([
      'text/plain; charset=utf-8',
      'a cat',
    ])
    expect(api.asked[0]).toMatchObject({ method: 'PUT', body: 'PNG', headers: { 'content-type': 'image/png' } })
  })
})

test('the audit finds nothing, with a price for every sale', async () => {
  expect(await ledgerFindings(service.database.adminUrl)).toEqual([])
})
