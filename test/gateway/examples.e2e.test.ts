import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compactVerify, createRemoteJWKSet } from 'jose'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { productsFileShape } from '../../src/gateway/productsFile.ts'
import { requestOf } from '../../src/product/productFacts.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { mppFetch } from '../support/mppClient.ts'
import { sampleOf } from '../support/rounds.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openX402Service, stockFetch } from '../support/x402Service.ts'
import { exampleApis } from './exampleApis.ts'
import { examplesOfPage } from './pageExamples.ts'

/* Unmodified stock clients of x402 and MPP buy the routes of the examples in docs/gateway.md, all of them in CI. */

const api = await openLoopbackServer(exampleApis)
process.env['ACME_KEY'] = 's3cret'
process.env['LLM_KEY'] = 's3cret'

const parts = z.object({ upstreams: z.record(z.string(), z.looseObject({})), routes: z.array(z.looseObject({})) })
const examples = examplesOfPage().map(({ text }) => parts.parse(parse(text)))
const upstreams = examples.flatMap((one) => Object.entries(one.upstreams))
const merged = {
  version: 1,
  upstreams: Object.fromEntries(upstreams.map(([name, entry]) => [name, { ...entry, url: `${api.url}/v1` }])),
  routes: examples.flatMap((one) => one.routes),
  // The document of another API, sold by the names of its operations.
  openapi: [
    {
      document: fileURLToPath(import.meta.resolve('@readme/oas-examples/3.0/json/petstore.json')),
      upstream: 'acme',
      prefix: '/pets',
      operations: ['GET /pet/{petId}', 'GET /pet/findByStatus', 'POST /pet', 'DELETE /store/order/{orderId}'],
      price: { usd: '0.001' },
    },
  ],
}
const file = join(await makeScratchDirectory(), 'tollbook.yaml')
await writeFile(file, stringify(merged))
const { service, tokenMint } = await openX402Service({ env: { PRODUCTS_FILE: file } })
const { routes } = productsFileShape.parse(merged)
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', service.baseUrl))

const clients = {
  x402: {
    fetch: await stockFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl, asset: tokenMint }),
    mount: '/x402',
    paid: 'payment-response',
  },
  MPP: {
    fetch: await mppFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl }),
    mount: '',
    paid: 'payment-receipt',
  },
}
const streamed = { model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: true }
const orders = [
  ...sampleOf(routes).map(({ path, method, example }) => ({ path, method, order: example })),
  { path: '/v1/chat/completions', method: 'POST', order: streamed },
  { path: '/pets/pet/{petId}', method: 'GET', order: { petId: 7 } },
  { path: '/pets/pet/findByStatus', method: 'GET', order: { status: ['available', 'sold'] } },
  { path: '/pets/pet', method: 'POST', order: { name: 'Rex', photoUrls: [] } },
  { path: '/pets/store/order/{orderId}', method: 'DELETE', order: { orderId: 3 } },
] as const
const petRequests = [
  'GET /v1/pet/7',
  'GET /v1/pet/findByStatus?status=available&status=sold',
  'POST /v1/pet',
  'DELETE /v1/store/order/3',
]

test.each(Object.entries(clients))('%s buys the routes, and the receipts verify', async (_name, client) => {
  for (const { path, method, order } of orders) {
    const { target, body } = requestOf({ path, method }, order)
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const url = service.baseUrl + client.mount + target
    const response = await client.fetch(url, { method, ...(body === undefined ? {} : json) })
    const text = await response.text()
    expect([response.status, response.headers.has(client.paid)], `${path} ${text}`).toEqual([200, true])
    if ('stream' in order) expect(text).toContain('data: [DONE]\n\n')
    else await compactVerify(response.headers.get('tollbook-receipt') ?? '', keys)
  }
  expect(api.asked.map(({ method, path }) => `${method} ${path}`).slice(-petRequests.length)).toEqual(petRequests)
  expect(await ledgerFindings(service.database.adminUrl)).toEqual([])
})
