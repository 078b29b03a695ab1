import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { validateAndExtract } from '@x402/extensions/bazaar'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { products } from '../support/builtinProducts.ts'
import { afterFile } from '../support/afterFile.ts'
import { qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { freePort } from '../support/freePort.ts'
import { sampleDollar } from '../support/sampleDollar.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openX402Service, stockFetch, type X402Service } from '../support/x402Service.ts'

// nginx and ingress-nginx take 4,096 bytes of status line and headers, and answer 502 to more.
const headerBytesMax = 3_500
const nginx = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find((place) => existsSync(place))

const publicUrl = 'https://prices.of.a.long.name.example/tollbook'
let x402: X402Service

beforeAll(async () => {
  x402 = await openX402Service({
    env: {
      PUBLIC_URL: publicUrl,
      AI_BASE_URL: 'http://127.0.0.1:9/v1',
      AI_MODEL: 'sample',
      CURRENCIES: 'usdc:minimum=0.000001',
      BURN_DEBT_MAX_TOKENS: '1000',
    },
    dollars: sampleDollar(),
    seams: { endpoints: (endpoints) => endpoints.map(sellAlways) },
  })
})

/** The product without its provider: only its price is asked for. */
function sellAlways(endpoint: Endpoint): Endpoint {
  const whyUnavailable = () => undefined
  const read = (input: unknown) => ({ ...endpoint.read(input), whyUnavailable, whyNoData: () => undefined })
  return { ...endpoint, whyUnavailable, read }
}

const asked = products.flatMap(({ method, path }) => [
  [method, path],
  [method, `/x402${path}`],
])

interface Head {
  readonly status: number | undefined
  readonly bytes: number
}

/** The status and the length of the header section of an answer. */
function headOf(baseUrl: string, method: string, path: string): Promise<Head> {
  const { promise, resolve, reject } = Promise.withResolvers<Head>()
  const headers = { 'x-wallet-address': x402.service.payer.address, 'accept-payment': 'solana/charge' }
  const order = orderOf(path)
  const query = method === 'GET' ? `?${new URLSearchParams(order).toString()}` : ''
  httpRequest(
    `${baseUrl}${path}${query}`,
    { method, headers: { ...headers, 'content-type': 'application/json' } },
    (response) => {
      response.resume()
      const { statusCode, statusMessage, rawHeaders } = response
      // `: ` or the end of a line after each name and value, the status line, and the empty line.
      const lengths = rawHeaders.map((text) => Buffer.byteLength(text, 'latin1') + 2)
      const line = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`.length
      resolve({ status: statusCode, bytes: lengths.reduce((sum, length) => sum + length, line + 2) })
    },
  )
    .on('error', reject)
    .end(method === 'GET' ? undefined : JSON.stringify(order))
  return promise
}

function orderOf(path: string): Record<string, string> {
  const product = assertPresent(
    products.find((each) => path.endsWith(each.path)),
    'the path is one of a product',
  )
  return JSON.parse(JSON.stringify(product.example.order))
}

test.each(asked)('the header section of a 402 fits into the buffers of proxies: %s %s', async (method, path) => {
  const { status, bytes } = await headOf(x402.service.baseUrl, method, path)
  expect(status).toBe(402)
  expect(bytes).toBeLessThanOrEqual(headerBytesMax)
})

const linked = z.object({ externalDocs: z.object({ url: z.url() }) })
const bazaar = z.object({
  schema: z.object({ properties: z.object({ input: z.object({ properties: z.record(z.string(), linked) }) }) }),
})

test.each(products)(
  'the 402 of $path links the schema of its parameters, in a form that indexers take',
  async ({ method, path }) => {
    const { baseUrl } = x402.service
    const { headers } = await fetch(`${baseUrl}/x402${path}`, { method })
    const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString())
    expect(validateAndExtract(required.extensions.bazaar)).toMatchObject({ valid: true })
    const { properties } = bazaar.parse(required.extensions.bazaar).schema.properties.input
    const place = method === 'GET' ? 'queryParams' : 'body'
    const { url } = assertPresent(properties[place], 'the parameters are linked').externalDocs
    const [document = '', pointer = ''] = url.replace(publicUrl, baseUrl).split('#')
    const openApi: unknown = await (await fetch(document)).json()
    const schema = pointer
      .split('/')
      .slice(1)
      .reduce((part, name) => Object(part)[name], openApi)
    expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) })
  },
)

describe.skipIf(nginx === undefined)(
  'behind nginx with its default buffers (skipped where nginx is not installed)',
  () => {
    let baseUrl: string
    beforeAll(async () => {
      baseUrl = await startNginx(x402.service.baseUrl)
    })

    test.each(asked)('%s %s has a price', async (method, path) => {
      expect((await headOf(baseUrl, method, path)).status).toBe(402)
    })

    test('a stock client of x402 pays and reads its answer', async () => {
      const { service, tokenMint } = x402
      const payingFetch = await stockFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl, asset: tokenMint })
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(qrOrder.body) }
      const response = await payingFetch(`${baseUrl}/x402${qrOrder.path}`, init)
      expect([response.status, response.headers.has('payment-response')]).toEqual([200, true])
    })
  },
)

async function startNginx(target: string): Promise<string> {
  const directory = await makeScratchDirectory()
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const file = `${directory}/nginx.conf`
  await writeFile(
    file,
    `daemon off; pid ${directory}/nginx.pid; error_log ${directory}/error.log; events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
      server { listen 127.0.0.1:${port}; location / { proxy_pass ${target}; } }
    }`,
  )
  const child = spawn(assertPresent(nginx, 'nginx is installed'), ['-e', `${directory}/error.log`, '-c', file], {
    stdio: 'ignore',
  })
  const gone = once(child, 'exit')
  afterFile(async () => {
    child.kill()
    await gone
  })
  const baseUrl = `http://127.0.0.1:${port}`
  await awaitThat('nginx passes requests on', async () => {
    const answer = await fetch(`${baseUrl}/livez`).catch(() => undefined)
    return answer?.ok
  })
  return baseUrl
}
