import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { nameEndpoints, orderSchemaPath } from '../../src/document/paidOperation.ts'
import { freeOperations } from '../../src/document/freeOperations.ts'
import { products } from '../support/builtinProducts.ts'
import { requestOf } from '../../src/product/productFacts.ts'
import { displayUsd } from '../../src/pricing/priceList.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { ask, buy, type Order } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { badInput } from '../support/rawRequest.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { type OpenApi, openApiShape } from './openApiShape.ts'

const chatServer = await openLoopbackServer(
  answersJson(200, { model: 'm', choices: [{ message: { content: 'Hi!' }, finish_reason: 'stop' }] }),
)

let service: TestService
let document: OpenApi
let definitions: Record<string, unknown>

beforeAll(async () => {
  service = await openTestService({ env: { AI_BASE_URL: chatServer.url, AI_MODEL: 'm' } })
  document = openApiShape.parse((await ask(service, { path: '/openapi.json' })).body)
  definitions = jsonObject.parse(withinSchema(document.components.schemas))
})

const jsonObject = z.record(z.string(), z.json())

/** The validator that a schema of the document describes; everything it refers to is in the document. */
function validatorOf(schema: unknown): z.ZodType {
  return z.fromJSONSchema({ ...withinSchema(schema), $defs: definitions })
}

function withinSchema(value: unknown) {
  return JSON.parse(JSON.stringify(value).replaceAll('#/components/schemas/', '#/$defs/'))
}

/** Every object in the document, with its place. */
function* objectsIn(value: unknown, place = '#'): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [place, { ...value }]
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${place}/${key}`)
}

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method,
      operation: assertPresent(operation, 'a method'),
    })),
  )
const productAt = (path: string) =>
  assertPresent(
    products.find((product) => product.path === path),
    path,
  )
const orderOf = (path: string): Order => {
  const product = productAt(path)
  const { target, body } = requestOf(product, product.example.order)
  return body === undefined ? { path: target } : { path: target, body }
}
const paidPaths = products.map(({ path }) => path)

describe('document, routes and price list agree', () => {
  test('on what is sold, how it is asked for and what it costs', async () => {
    const paid = operations().filter(({ operation }) => operation.tags.includes('Paid'))
    expect(paid.map(({ path }) => path)).toEqual(paidPaths)
    for (const path of paidPaths) {
      const { body } = await ask(service, orderOf(path))
      // With any answer, the example was read: its parameters are legal.
      expect(['PAYMENT_REQUIRED', 'ENDPOINT_UNAVAILABLE', 'NO_DATA'], JSON.stringify(body)).toContain(body['code'])
      const [method] = Object.keys(document.paths[path] ?? {})
      expect((await fetch(`${service.baseUrl}${path}`, { method: method === 'get' ? 'POST' : 'GET' })).status).toBe(405)
      expect(Object.values(document.paths[path] ?? {})[0]).toMatchObject({
        'x-price-usd': displayUsd(productAt(path)),
      })
    }
  })

  test('on free routes: each route in the code is documented or known to be the operator’s', async () => {
    const folders = ['routes', 'financeApi', 'pages'].map((room) => new URL(`../../src/${room}/`, import.meta.url))
    const files = await Promise.all(
      folders.map(async (folder) => (await readdir(folder)).map((name) => new URL(name, folder))),
    )
    const code = files.flat().filter(({ pathname }) => pathname.endsWith('.ts'))
    const sources = await Promise.all(code.map((file) => readFile(file, 'utf8')))
    const routes = sources.flatMap((text) => [...text.matchAll(/\bpath: '(\/[^']+)'/g)].map(([, path = '']) => path))
    expect(routes.length).toBeGreaterThan(15)
    expect(routes.filter((path) => freeOperations[path] === undefined).sort()).toEqual(['/metrics'])
    const reported = new Set(Object.keys(document.paths))
    // This service sells no tabs, so it has no routes for them.
    const served = routes.filter((path) => freeOperations[path] !== undefined && !path.startsWith('/api/tabs/'))
    expect(served.filter((path) => !reported.has(path.replace(/[:*](\w+)/, '{$1}')))).toEqual([])
  })

  test('each free path answers in the documented shape', async () => {
    const free = operations().filter(({ path, operation }) => operation.tags.includes('Free') && !path.includes('{'))
    expect(free.length).toBeGreaterThan(11)
    await awaitThat(
      'the price list is sealed',
      async () => (await fetch(`${service.baseUrl}/checkpoint`)).status === 200,
    )
    for (const { path, operation } of free) {
      const response = await fetch(`${service.baseUrl}${path}${exampleQuery(operation)}`)
      const reported = operation.responses[String(response.status)]
      assert(reported !== undefined && 'content' in reported, `${path} documents ${response.status}`)
      const [mediaType, { schema }] = Object.entries(reported.content ?? {})[0] ?? ['', { schema: undefined }]
      expect(response.headers.get('content-type')).toContain(mediaType)
      const text = await response.text()
      if (mediaType === 'application/json')
        expect(validatorOf(schema).safeParse(JSON.parse(text)).error?.issues ?? [], path).toEqual([])
    }
  })

  test('the price list says what the next 402 says, and why there is none', async () => {
    const product = z.looseObject({
      path: z.string(),
      priceUSD: z.number(),
      requiredTokens: z.number(),
      requiredBaseUnits: z.string(),
      available: z.boolean(),
      reason: z.string().optional(),
      example: jsonObject,
    })
    const list = z.object({ data: z.object({ products: z.array(product) }) })
    const { products: listed } = list.parse((await ask(service, { path: '/api/catalog' })).body).data
    expect(listed.map(({ path }) => path)).toEqual(paidPaths)
    for (const { path, priceUSD, requiredTokens, requiredBaseUnits, available, reason, example } of listed) {
      expect(example).toEqual(productAt(path).example.order)
      const { status, body } = await ask(service, orderOf(path))
      if (!available) expect([status, body['error']]).toEqual([503, reason])
      else if (status !== 404)
        expect(body).toMatchObject({ pricing: { priceUSD, requiredTokens }, quote: { requiredBaseUnits } })
    }
    expect(listed.filter(({ available }) => available).map(({ path }) => path)).toContain('/api/ai/chat')
  })
})

describe('each answer has the documented shape', () => {
  const schemaFor = (path: string, method: 'get' | 'post', status: number) => {
    const reported = document.paths[path]?.[method]?.responses[String(status)]
    const response =
      reported !== undefined && '$ref' in reported
        ? document.components.responses[reported.$ref.split('/')[3] ?? '']
        : reported
    const schema =
      response !== undefined && 'content' in response ? response.content?.['application/json']?.schema : undefined
    return validatorOf(assertPresent(schema, `${path} documents ${status}`))
  }

  test.each(['/api/tools/qrcode', '/api/ai/chat'] as const)('a sale of %s', async (path) => {
    const sale = await buy(service, orderOf(path))
    expect(schemaFor(path, 'post', 200).safeParse(sale).error?.issues ?? []).toEqual([])
  })

  test.each<[number, Order]>([
    [400, { path: '/api/tools/qrcode', body: { data: '' } }],
    [401, { path: '/api/tools/qrcode', body: { data: 'x' }, wallet: ' ' }],
    [402, { path: '/api/tools/qrcode', body: { data: 'x' } }],
    [402, { path: '/api/tools/qrcode', body: { data: 'x' }, proof: 'garbage' }],
    [413, { path: '/api/tools/qrcode', body: { data: 'x'.repeat(70_000) } }],
    [415, { path: '/api/tools/qrcode', body: {}, headers: { 'content-type': 'text/plain' } }],
  ])('a refusal with %i', async (status, order) => {
    const { path, body, headers, wallet = service.payer.address, proof } = order
    const response = await fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-wallet-address': wallet,
        ...headers,
        ...(proof === undefined ? {} : { 'x-payment-proof': proof }),
      },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(status)
    expect(schemaFor(path, 'post', status).safeParse(await response.json()).error?.issues ?? []).toEqual([])
  })
})

describe('the page', () => {
  test('is read without a script, fetches everything from here, and has each product with its price and how to buy it', async () => {
    const page = await fetch(`${service.baseUrl}/docs`)
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    const html = await page.text()
    // Samples contain addresses and code as text; markup must not.
    expect(html).not.toMatch(/(?:src|href)="(?:https?:|\/\/)|<script>|<style|<[^>]* (?:style|on\w+)=/)
    const files = [...html.matchAll(/(?:src|href)="(page\/[^"]+)"/g)].map(([, address = '']) => address)
    expect(files).toHaveLength(2)
    expect(html).not.toContain('<script')
    for (const product of products) {
      expect(html).toContain(`<code>${product.method} ${product.path}</code>`)
      expect(html).toContain(`<strong>$${displayUsd(product)}</strong> a request`)
      expect(html).toContain(`href="pay${product.path}"`)
    }
    for (const address of files) {
      const file = await fetch(new URL(address, `${service.baseUrl}/docs`))
      expect(file.status).toBe(200)
      expect(file.headers.get('content-type')).toMatch(/^(text\/css; charset=utf-8|image\/svg\+xml)$/)
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100)
    }
  })

  test.each(['package.json', '..%2f..%2fpackage.json', '%2e%2e', 'pay.ts'])('does not serve %s', async (name) => {
    expect((await fetch(`${service.baseUrl}/page/${name}`)).status).toBe(404)
  })
})

describe('the samples', () => {
  test('are for the address that the service listens on', async () => {
    const samples = z
      .array(z.object({ label: z.string(), source: z.string() }))
      .parse(document.paths['/api/data/crypto']?.get?.['x-codeSamples'])
    expect(samples.map(({ label }) => label)).toEqual(['Ask for the price', 'Pay from a shell', 'TypeScript', 'Python'])
    const [ask = '', pay = '', typescript = '', python = ''] = samples.map(({ source }) => source)
    expect(ask).toContain(`curl -si '${service.baseUrl}/api/data/crypto?symbol=BTC'`)
    const flags = `--base-url ${service.baseUrl} --mint ${service.mint} --max-usd 0.02`
    expect(pay).toBe(`npx tollbook pay GET '/api/data/crypto?symbol=BTC' ${flags}`)
    expect(typescript).toContain(`payingFetch('${service.baseUrl}/api/data/crypto?symbol=BTC')`)
    expect(python).toContain(`requests.request("GET", "${service.baseUrl}/api/data/crypto?symbol=BTC", headers=`)
  })

  test('are for PUBLIC_URL where it is set, and nothing of a Host gets into a shell', async () => {
    const open = await openTestService({ besides: service, env: { PUBLIC_URL: 'https://pay.example/tollbook/' } })
    const body = JSON.stringify((await ask(open, { path: '/openapi.json' })).body)
    expect(body).toContain("curl -si 'https://pay.example/tollbook/api/data/crypto")
    expect(body).not.toContain(open.baseUrl)
    await open.close()
    expect(body).not.toMatch(/'[^']*\$\(/)
  })
})

// Last: these keep the process busy, and a server in it would rightly refuse unpaid work meanwhile.
describe('the document', () => {
  test('is OpenAPI 3.1: names are unique, tags are known, parameters of a path are part of it', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = new Set(document.tags.map(({ name }) => name))
    for (const { path, operation } of operations()) {
      expect(operation.tags.every((tag) => tags.has(tag))).toBe(true)
      const inPath = (operation.parameters ?? []).filter((parameter) => 'in' in parameter && parameter.in === 'path')
      expect(inPath).toHaveLength([...path.matchAll(/\{/g)].length)
    }
  })

  test('has something behind each reference, and refers to each schema', () => {
    const refs = [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []))
    expect(refs.length).toBeGreaterThan(100)
    const there = new Set(
      Object.entries(document.components).flatMap(([kind, parts]) =>
        Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
      ),
    )
    expect(refs.filter((ref) => !there.has(ref))).toEqual([])
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !refs.includes(`#/components/schemas/${name}`),
    )
    // The orders of a GET are documented as parameters.
    const byGet = nameEndpoints(products)
      .filter(({ method }) => method === 'GET')
      .map((product) => orderSchemaPath(product))
    expect(unused.filter((name) => !byGet.some((path) => path.endsWith(`/${name}`)))).toEqual([])
  })

  test('has only examples that are valid by their schema', () => {
    let checked = 0
    for (const [place, { schema, example, examples: several }] of objectsIn(document)) {
      const given = [
        ...(example === undefined ? [] : [example]),
        ...Object.values(jsonObject.safeParse(several).data ?? {}).map((one) => jsonObject.parse(one)['value']),
      ]
      if (schema === undefined || typeof schema !== 'object') continue
      for (const value of given) {
        const verdict = validatorOf(schema).safeParse(value)
        expect(verdict.error?.issues ?? [], `${place} ${JSON.stringify(value)}`).toEqual([])
        checked++
      }
    }
    expect(checked).toBeGreaterThan(19)
  })

  test('tells lengths and bounds of every text and number that a caller sends', () => {
    const orders = Object.entries(document.components.schemas).filter(([name]) => name.endsWith('Order'))
    for (const [name, schema] of orders)
      // The part under oneOf repeats the description of the same field.
      for (const [place, { type, enum: closed, maxLength, pattern, maximum }] of objectsIn(schema, name)) {
        if (place.includes('/oneOf/')) continue
        if (type === 'string' && closed === undefined) expect(maxLength ?? pattern, place).toBeDefined()
        if (type === 'integer' || type === 'number') expect(maximum, place).toBeDefined()
      }
    expect(document.components.schemas['NewsOrder']).toMatchObject({
      properties: { limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 } },
    })
  })

  test('refuses nothing that is accepted: all legal bodies of the bad inputs pass its schemas', async () => {
    const cases = z
      .array(badInput)
      .parse(JSON.parse(await readFile(new URL('../fixtures/badInputs.json', import.meta.url), 'utf8')))
    const legal = cases.filter(
      ({ expectStatus, method, body }) =>
        expectStatus.join() === '402' && method === 'POST' && jsonObject.safeParse(body).success,
    )
    expect(legal.length).toBeGreaterThan(20)
    for (const { path, body, id } of legal) {
      const schema = document.paths[path]?.post?.requestBody?.content['application/json']?.schema
      if (schema !== undefined) expect(validatorOf(schema).safeParse(body).error?.issues ?? [], id).toEqual([])
    }
  })
})

/** The required parameters of the query, as the document exemplifies them. */
function exampleQuery({ parameters = [] }: { readonly parameters?: readonly object[] | undefined }): string {
  const given = parameters.flatMap((one): [string, string][] =>
    'in' in one && 'name' in one && 'example' in one && one.in === 'query' && 'required' in one && one.required === true
      ? [[String(one.name), String(one.example)]]
      : [],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
