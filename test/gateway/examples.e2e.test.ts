import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compactVerify, createRemoteJWKSet } from 'jose'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { productsFileShape } from '../../src/gateway/productsFile.ts'
import { fillTemplate } from '@tollbook/core/pathTemplate'
import { ledgerFindings } from '../support/ledgerFindings.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { mppFetch } from '../support/mppClient.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openX402Service, stockFetch } from '../support/x402Service.ts'
import { exampleApis } from './exampleApis.ts'
import { examplesOfPage } from './pageExamples.ts'

/* Unmodified stock clients of x402 and MPP buy every route of the examples in docs/gateway.md. */

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
  ...routes.map(({ path, method, example }) => ({ path, method, order: example })),
  { path: '/v1/chat/completions', method: 'POST', order: streamed },
]

test.each(Object.entries(clients))('%s buys every route, and the receipts verify', async (_name, client) => {
  for (const { path, method, order } of orders) {
    const post = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) }
    const url = service.baseUrl + client.mount + fillTemplate(path, order)
    const response = await client.fetch(url, method === 'GET' ? {} : post)
    const text = await response.text()
    expect([response.status, response.headers.has(client.paid)], `${path} ${text}`).toEqual([200, true])
    if ('stream' in order) expect(text).toContain('data: [DONE]\n\n')
    else await compactVerify(response.headers.get('tollbook-receipt') ?? '', keys)
  }
  expect(await ledgerFindings(service.database.adminUrl)).toEqual([])
})
