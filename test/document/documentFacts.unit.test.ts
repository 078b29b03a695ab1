import { assertPresent } from '@tollbook/core/assert'
import { mainnet } from '@tollbook/core/networks'
import { systemClock } from '@tollbook/core/clock'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type DescribedRail, paymentInfo } from '../../src/document/discovery.ts'
import { errorResponses, errorSchemas } from '../../src/document/errorResponses.ts'
import { payingSteps } from '../../src/document/introduction.ts'
import { schemaOf } from '../../src/document/jsonSchema.ts'
import { landingPage } from '../../src/document/landingPage.ts'
import { listedParameters } from '../../src/document/listedParameters.ts'
import { createOpenApi } from '../../src/document/openApi.ts'
import { nameEndpoints, paidOperation } from '../../src/document/paidOperation.ts'
import { paymentPage } from '../../src/document/paymentPage.ts'
import { createPriceCatalog } from '../../src/document/priceCatalog.ts'
import { referencePage } from '../../src/document/referencePage.ts'
import { serviceDescription } from '../../src/document/serviceDescription.ts'
import { shownParameters } from '../../src/document/shownParameters.ts'
import { verdictsOf } from '../../src/document/verdicts.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { defaultSeller } from '../../src/product/seller.ts'
import { transportErrors } from '../../src/transport/transportError.ts'
import { sampleAddress, sampleMint, samplePrice } from '../store/samplePayment.ts'
import { openTestEndpoint } from '../support/testProduct.ts'

const deliver = () => Promise.reject(new Error('nothing is bought'))
const endpointAt = (path: string, more: Partial<Endpoint> = {}, parameters: z.ZodType<object> = z.strictObject({})) =>
  ({ ...openTestEndpoint({ path, parameters: parameters as never, deliver }), ...more }) as Endpoint
const verdicts = verdictsOf(transportErrors)
const mounted = (name: string): DescribedRail => ({
  name,
  description: { protocol: name, request: 'there', mount: `/${name}`, offer: { method: name } },
})
const terms = {
  mint: sampleMint,
  decimals: 6,
  network: 'solana:x',
  paymentWallet: sampleAddress(),
  paymentTokenAccount: sampleAddress(),
  tokenProgram: sampleAddress(),
}
const token = { symbol: 'TOLL' }

function factsOf(endpoints: readonly Endpoint[], more: object = {}) {
  return {
    endpoints,
    searches: [],
    rails: [mounted('one'), mounted('two')],
    split: defaultSplit,
    seller: defaultSeller,
    dollars: [],
    token,
    terms,
    mint: sampleMint,
    currentPrice: () => undefined,
    ...more,
  }
}
const catalogOf = (endpoints: readonly Endpoint[], more: object = {}) =>
  createPriceCatalog({ ...factsOf(endpoints), clock: systemClock, whyClosed: () => undefined, ...more })()
const openApiOf = (endpoints: readonly Endpoint[], more: object = {}) => {
  const deps = { ...factsOf(endpoints, more), version: '1', freePaths: [], transportStatuses: transportErrors }
  return createOpenApi(deps)({ baseUrl: 'https://api.example', linkBase: '' })
}
const openApiShape = z.looseObject({ paths: z.record(z.string(), z.unknown()), info: z.unknown() })

test('the errors that may carry Retry-After and Allow say so', () => {
  const responses = Object.entries(errorResponses(verdicts))
  const withHeader = (name: string) =>
    responses
      .filter(([, response]) => name in Object(Object(response).headers))
      .map(([response]) => response)
      .sort()
  expect(withHeader('retry-after')).toEqual(['Error402', 'Error404', 'Error409', 'Error429', 'Error503'])
  expect(withHeader('allow')).toEqual(['Error405'])
})

test('a 402 is a quote, an offer by x402 or MPP alone, or a refusal, and one of them only', () => {
  const { Error402 } = errorResponses(verdicts)
  const content = z
    .object({
      content: z.object({ 'application/json': z.object({ schema: z.looseObject({}), examples: z.looseObject({}) }) }),
    })
    .parse(Error402).content['application/json']
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', components: { schemas: errorSchemas() } })
  const schema = JSON.parse(JSON.stringify(content.schema).replaceAll('"#/', '"document#/'))
  const { error, code, pricing, ...quoted } = z
    .object({ value: z.looseObject({}) })
    .parse(content.examples['PAYMENT_REQUIRED']).value
  const offer = { error, code, pricing }
  const refused = { error, code: 'INVALID_PAYMENT', reason: 'already_used' }
  const bodies = [{ ...offer, ...quoted }, offer, refused, { error, code }, { ...offer, quote: {} }]
  expect(bodies.map((body) => ajv.validate(schema, body))).toEqual([true, true, true, false, false])
})

test('products whose paths have the same words have their own operations and schemas', () => {
  const order = (name: string) => z.strictObject({ [name]: z.string() })
  const endpoints = [
    endpointAt('/api/data/toy', { method: 'POST' }, order('first')),
    endpointAt('/toy', { method: 'POST' }, order('second')),
    endpointAt('/to/y', { method: 'POST' }, order('third')),
  ]
  const operation = z.looseObject({
    operationId: z.string(),
    requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.json() })) }),
  })
  const document = z
    .looseObject({
      paths: z.record(z.string(), z.looseObject({ post: operation })),
      components: z.looseObject({ schemas: z.record(z.string(), z.json()) }),
    })
    .parse(openApiOf(endpoints))
  const own = endpoints.map(({ path }) => assertPresent(document.paths[path]?.post, 'it is sold'))
  expect(own.map(({ operationId }) => operationId)).toEqual(['postToy', 'postToy_2', 'postToY'])
  const schemas = own.map(({ requestBody }) => requestBody.content['application/json']?.schema)
  expect(schemas).toEqual(
    ['ToyOrder', 'Toy_2Order', 'ToYOrder'].map((name) => ({ $ref: `#/components/schemas/${name}` })),
  )
  expect(document.components.schemas).toMatchObject({
    ToyOrder: { properties: { first: {} } },
    Toy_2Order: { properties: { second: {} } },
  })
})

test('an operation lists 413 and 415 only with a body, and 403 only with a target', () => {
  const statusesOf = (endpoint: Endpoint) => {
    const [first] = nameEndpoints([endpoint])
    const { responses } = paidOperation(assertPresent(first, 'one product has one name'), {
      verdicts,
      rails: [],
      dollars: [],
      mint: 'M',
    })({
      baseUrl: '',
      price: undefined,
    })
    return Object.keys(Object(responses)).filter((status) => ['403', '405', '413', '415', '416'].includes(status))
  }
  const target = z.strictObject({ url: z.string() })
  expect(statusesOf(endpointAt('/toy/a'))).toEqual([])
  expect(statusesOf(endpointAt('/toy/a', {}, target))).toEqual(['403'])
  expect(statusesOf(endpointAt('/toy/a', { method: 'POST' }, target))).toEqual(['403', '413', '415'])
})

test('a dollar is offered by its own rails, and from its smallest price on', () => {
  const endpoint = endpointAt('/toy/a')
  const own = {
    symbol: 'USDC',
    mint: 'Dollar',
    decimals: 6,
    paymentWallet: 'W',
    rails: ['two'],
    burn: 'token' as const,
  }
  const offersFrom = (minimumMicroUsd: bigint) => {
    const dollars = [{ ...own, minimumMicroUsd, description: '' }]
    const info = paymentInfo(endpoint, [mounted('one'), mounted('two')], { mint: 'M', dollars, requiredBaseUnits: 1n })
    return z
      .object({ offers: z.array(z.object({ method: z.string(), currency: z.string() })) })
      .parse(info)
      .offers.filter(({ currency }) => currency === 'Dollar')
      .map(({ method }) => method)
  }
  expect(offersFrom(endpoint.priceMicroUsd)).toEqual(['two'])
  expect(offersFrom(endpoint.priceMicroUsd + 1n)).toEqual([])
})

test('each rail with a mount has each product below it', () => {
  const { paths } = openApiShape.parse(openApiOf([endpointAt('/toy/a'), endpointAt('/toy/b')]))
  expect(Object.keys(paths).sort()).toEqual([
    '/one/toy/a',
    '/one/toy/b',
    '/toy/a',
    '/toy/b',
    '/two/toy/a',
    '/two/toy/b',
  ])
})

test('the contact of the seller is an address of mail or of the web', () => {
  const contactOf = (contact: string) =>
    Object(openApiShape.parse(openApiOf([], { seller: { ...defaultSeller, contact } })).info).contact
  expect([contactOf('help@api.example'), contactOf('https://api.example/help')]).toEqual([
    { email: 'help@api.example' },
    { url: 'https://api.example/help' },
  ])
})

test('a product without a body is described by its path and query', () => {
  const endpoints = [endpointAt('/toy/a', { method: 'DELETE' }), endpointAt('/toy/b', { method: 'POST' })]
  const page = referencePage(openApiOf(endpoints), endpoints)
  expect(page).toMatch(/DELETE \/toy\/a<[^]*?Path and query:[^]*?POST \/toy\/b<[^]*?Path and body:/)
})

test('a parameter in the path is required, although it has a default', () => {
  const parameters = z.strictObject({ id: z.string().default('x'), size: z.string().default('y') })
  expect(listedParameters(parameters, { inPath: ['id'], example: {} })).toMatchObject([
    { name: 'id', in: 'path', required: true },
    { name: 'size', in: 'query', required: false },
  ])
})

test('parameters of which one is needed are not optional, and are shown first', () => {
  const choice = { oneOf: [{ required: ['html'] }, { required: ['url'] }] }
  const parameters = z
    .strictObject({ html: z.string().optional(), url: z.string().optional(), size: z.string().optional() })
    .meta(choice)
  expect(shownParameters(parameters)).toMatch(
    /`html`: +· `url`: +· `size`: +\(optional\) · exactly one of `html` and `url`/,
  )
  const page = paymentPage({
    endpoint: endpointAt('/toy/a', {}, parameters),
    at: '/pay/toy/a',
    sellerName: 'Acme',
    token,
    mint: 'M',
    network: mainnet,
    hasTestWallet: false,
    dollars: [],
  })
  expect(page).toMatch(/name="html"[^]*name="url"[^]*More options[^]*name="size"/)
  expect(page).toContain('data-chain="solana:mainnet"')
})

test('an integer without limits is described without the limits of JavaScript', () => {
  expect(schemaOf(z.object({ count: z.int(), port: z.int().min(1).max(9) }))).toMatchObject({
    properties: { count: { type: 'integer' }, port: { type: 'integer', minimum: 1, maximum: 9 } },
  })
  expect(JSON.stringify(schemaOf(z.object({ count: z.int() })))).not.toMatch(/imum/)
})

test('the steps name the burn once, and the others as shares of the rest', () => {
  expect(payingSteps(defaultSplit)).toContain(
    'burns 30% and transfers the rest (50% provider, 15% holders, 5% treasury).',
  )
})

test('the catalog has the price of the token from any product, and the reason of the service before that of a product', () => {
  const endpoints = [endpointAt('/toy/a'), endpointAt('/toy/b', { whyUnavailable: () => 'no provider' })]
  const price = { ...samplePrice(), priceList: 1 }
  const currentPrice = (endpoint: string) => (endpoint === '/toy/b' ? price : undefined)
  const open = catalogOf(endpoints, { currentPrice })
  expect(open.token.priceUSD).toBeGreaterThan(0)
  expect(open.products.map(({ reason }) => reason)).toEqual(['the token has no current price', 'no provider'])
  const closed = catalogOf(endpoints, { currentPrice, whyClosed: () => 'maintenance' })
  expect(closed.products.map(({ reason }) => reason)).toEqual(['maintenance', 'maintenance'])
  const sold = catalogOf([endpointAt('/toy/b')], { currentPrice })
  const shownAs = (catalog: typeof sold) =>
    JSON.stringify(serviceDescription({ linkBase: '', seller: defaultSeller, catalog }))
  expect(shownAs(sold)).toContain('https://schema.org/InStock')
  expect(shownAs(closed)).not.toContain('https://schema.org/InStock')
})

test('the front page shows how to buy the cheapest product', () => {
  const endpoints = [2n, 1n, 3n].map((cents) => endpointAt(`/toy/${cents}`, { priceMicroUsd: cents * 10_000n }))
  const urls = { baseUrl: 'https://api.example', linkBase: '' }
  const page = landingPage({ ...factsOf(endpoints), ...urls, catalog: catalogOf(endpoints), isLocal: false })
  expect(/curl [^<]*/.exec(page)?.[0]).toContain('/toy/1')
})
