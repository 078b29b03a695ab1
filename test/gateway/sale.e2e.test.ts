import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask, askForQuote } from '../support/ask.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'

/* Products of a file, sold over real HTTP, with a real server behind them. */

const api = await openLoopbackServer(answersJson(200, { ok: true }))

async function writeProducts(): Promise<string> {
  const file = join(await makeScratchDirectory(), 'tollbook.yaml')
  await writeFile(
    file,
    `
version: 1
upstreams:
  acme: { url: ${api.url}/v1, headers: { x-api-key: "\${ACME_KEY}" }, timeout: 2s, max_response: 16KiB }
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
`,
  )
  return file
}

let service: TestService

beforeAll(async () => {
  process.env['ACME_KEY'] = 's3cret'
  service = await openTestService({ env: { PRODUCTS_FILE: await writeProducts(), HANDLER_TIMEOUT_MS: '5000' } })
})

beforeEach(() => {
  api.asked.length = 0
  api.script(answersJson(200, { ok: true, name: 'a' }))
})

/** A paid request whose answer is not the envelope. */
async function buyRaw(path: string, proof: string): Promise<Response> {
  const headers = { 'x-wallet-address': service.payer.address, 'x-payment-proof': proof }
  return fetch(`${service.baseUrl}${path}`, { headers })
}

const payFor = async (path: string) => service.payer.pay(await askForQuote(service, { path }))

describe('a route of the file', () => {
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
      products: [{ path: '/acme/item', parameters: { additionalProperties: false } }],
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
