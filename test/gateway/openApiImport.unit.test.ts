import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { importOpenApi } from '../../src/gateway/openApiImport.ts'
import { readProductsFile } from '../../src/gateway/readProductsFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/* Documents of others become entries of a products file that the reader of the file accepts. */

// A folder inside, so that a document can refer to a file outside it.
const folder = join(await makeScratchDirectory(), 'documents')
const readVariable = () => ({ problem: 'is not set' })
const exampleOf = (name: string) => fileURLToPath(import.meta.resolve(`@readme/oas-examples/${name}`))

function write(name: string, text: string): string {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

function readFile(text: string) {
  return readProductsFile(write('tollbook.yaml', text), { readVariable, handlerTimeoutMs: 30_000 }).routes
}

function sell(document: string, ...operations: readonly string[]) {
  const { text, remarks } = importOpenApi({
    document,
    operations,
    priceUsd: '0.001',
    upstream: 'acme',
    url: 'http://127.0.0.1:1',
  })
  return { routes: readFile(text), remarks }
}

function documentOf(paths: object, more: object = {}): string {
  return write(
    'api.json',
    JSON.stringify({ openapi: '3.0.3', info: { title: 'Acme API', version: '1' }, paths, ...more }),
  )
}
const answers = { responses: { 200: { description: 'it', content: { 'application/json': {} } } } }

// Parsing the file again for each reference takes half a minute.
test('a file with many references to it is parsed once', { timeout: 10_000 }, () => {
  const filler = Array.from({ length: 3_000 }, (_, index) => `name${index}: { type: string, maxLength: ${index} }`)
  write('parts/large.yaml', filler.join('\n'))
  const parameters = Array.from({ length: 200 }, (_, index) => {
    return { name: `p${index}`, in: 'query', schema: { $ref: `parts/large.yaml#/name${index}` } }
  })
  const [route] = sell(documentOf({ '/x': { get: { parameters, ...answers } } }), 'GET /x').routes
  expect(Object.keys(Object(route?.schema['properties']))).toHaveLength(200)
})

describe('documents of others', () => {
  test.each([
    [
      '3.0/json/petstore.json',
      ['GET /pet/{petId}', 'PUT /pet', 'DELETE /store/order/{orderId}', 'GET /pet/findByStatus'],
    ],
    ['3.1/json/petstore.json', ['GET /pet/{petId}', 'POST /pet', 'POST /pet/{petId}/uploadImage']],
    ['3.1/json/train-travel.json', ['GET /trips', 'POST /bookings', 'GET /bookings/{bookingId}']],
    ['3.0/json/star-trek.json', ['GET /animal', 'POST /animal/search']],
    ['3.0/json/file-uploads.json', ['POST /anything/image-png']],
  ])('%s: the routes are read without a mistake', (name, operations) => {
    const { routes } = sell(exampleOf(name), ...operations)
    expect(routes.map(({ route }) => `${route.method} ${route.to}`)).toEqual(operations)
  })

  test('a pet of the store keeps its parameter, its description and its price', () => {
    const [pet] = sell(exampleOf('3.0/json/petstore.json'), 'GET /pet/{petId}').routes
    expect(pet?.route).toMatchObject({ path: '/acme/pet/{petId}', to: '/pet/{petId}', summary: 'Find pet by ID' })
    expect(pet?.schema).toMatchObject({
      properties: { petId: { type: 'integer', format: 'int64', description: 'ID of pet to return' } },
      required: ['petId'],
      additionalProperties: false,
    })
    expect(pet?.prices.priceMicroUsd).toBe(1_000n)
  })
})

test('a weather API has its list of variables, joined by commas, and its nullable and exclusive limits in 2020-12', () => {
  const variables = Array.from({ length: 60 }, (_, index) => `variable_${index}`)
  const list = (name: string) => ({
    name,
    in: 'query',
    explode: false,
    schema: { type: 'array', items: { type: 'string', enum: variables } },
  })
  const document = documentOf(
    {
      '/v1/forecast': {
        parameters: [
          {
            name: 'latitude',
            in: 'query',
            required: true,
            schema: { type: 'number', format: 'double', minimum: -90, exclusiveMaximum: true, maximum: 90 },
          },
        ],
        get: {
          summary: '7 day weather forecast',
          parameters: [
            {
              name: 'longitude',
              in: 'query',
              required: true,
              schema: { $ref: '#/components/schemas/Degrees' },
              example: 13.4,
            },
            list('hourly'),
            list('daily'),
            { name: 'timezone', in: 'query', schema: { type: 'string', nullable: true, xml: {}, format: 'zone' } },
            ...Array.from({ length: 20 }, (_, index) => ({
              name: `option_${index}`,
              in: 'query',
              schema: { type: 'string' },
            })),
          ],
          responses: { 200: { content: { 'application/json': { schema: { type: 'HourlyResponse' } } } } },
        },
      },
    },
    { components: { schemas: { Degrees: { type: 'number', 'x-unit': 'deg' } } } },
  )
  const [forecast] = sell(document, 'GET /v1/forecast').routes
  expect(forecast?.route).toMatchObject({ arrays: 'comma', example: { latitude: -90, longitude: 13.4 } })
  expect(forecast?.schema).toMatchObject({
    properties: {
      latitude: { type: 'number', minimum: -90, exclusiveMaximum: 90 },
      longitude: { type: 'number' },
      hourly: { type: 'array', items: { enum: variables } },
      timezone: { type: ['string', 'null'] },
    },
    required: ['latitude', 'longitude'],
  })
  expect(JSON.stringify(forecast?.schema)).not.toMatch(/x-unit|xml|"zone"|HourlyResponse|\$ref/)
})

test('a parameter that is not an array does not decide how the arrays are written', () => {
  const parameters = [
    { name: 'zone', in: 'query', explode: false, schema: { type: 'string' } },
    { name: 'days', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
  ]
  const [route] = sell(documentOf({ '/x': { get: { ...answers, parameters } } }), 'GET /x').routes
  expect(route?.route.arrays).toBe('repeat')
})

test('a body is sold with the parameters of path and query, without members that only answers have', () => {
  const document = documentOf({
    '/items/{item-id}/': {
      patch: {
        ...answers,
        parameters: [
          { name: 'item-id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'dry', in: 'query', schema: { type: 'boolean' } },
          { name: 'X-Tenant', in: 'header', required: true, schema: { type: 'string' } },
        ],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string', example: 'x' } },
                required: ['id', 'name'],
              },
            },
          },
        },
      },
    },
  })
  const { routes, remarks } = sell(document, 'PATCH /items/{item-id}/')
  expect(routes[0]?.route).toMatchObject({
    method: 'PATCH',
    path: '/acme/items/{item_id}',
    to: '/items/{item_id}/',
    query: ['dry'],
    example: { item_id: 'text', name: 'x' },
  })
  expect(routes[0]?.schema).toMatchObject({ required: ['item_id', 'name'] })
  expect(Object.keys(Object(routes[0]?.schema['properties']))).toEqual(['item_id', 'dry', 'name'])
  expect(remarks).toEqual([expect.stringContaining('needs the header "X-Tenant"')])
})

test('without names of the operator, an upstream has the title and the server of the document', () => {
  const servers = [{ url: 'https://{region}.acme.example/v2/', variables: { region: { default: 'eu' } } }]
  const info = { title: '24 Hours: The Acme Weather and Climate Forecast API', version: '1' }
  const document = documentOf({ '/x': { get: answers } }, { servers, info })
  const order = { document, operations: ['GET /x'], priceUsd: '0.001' }
  const imported = importOpenApi(order)
  expect(importOpenApi({ ...order, url: 'https://own.example' }).text).toContain('url: https://own.example\n')
  expect(imported.text).toContain('  hours-the-acme-weather-and-clima:\n    url: https://eu.acme.example/v2\n')
  expect(imported.text).toContain('path: /hours-the-acme-weather-and-clima/x\n')
})

test('a parameter of an operation replaces that of its path, and a long summary is cut', () => {
  const size = (maximum: number) => ({ name: 'size', in: 'query', schema: { type: 'integer', maximum } })
  const get = { ...answers, summary: 'word '.repeat(50), parameters: [size(2)] }
  const [route] = sell(documentOf({ '/x': { parameters: [size(9)], get } }), 'GET /x').routes
  expect(route?.schema).toMatchObject({ properties: { size: { maximum: 2 } } })
  expect(route?.route.summary).toMatch(/^word.{100,145}…$/)
})

describe('references', () => {
  const operation = (schema: object) => ({
    '/x': { get: { ...answers, parameters: [{ name: 'a', in: 'query', schema }] } },
  })

  test('lead to files of the folder, with names relative to each file', () => {
    write('parts/size.yaml', 'Size: { $ref: "../more/size.json#/definitions/size" }\n')
    write('more/size.json', JSON.stringify({ definitions: { size: { type: 'integer', maximum: 9 } } }))
    const [route] = sell(documentOf(operation({ $ref: 'parts/size.yaml#/Size' })), 'GET /x').routes
    expect(route?.schema).toMatchObject({ properties: { a: { type: 'integer', maximum: 9 } } })
  })

  test.each([
    'https://example.com/schema.json',
    'HTTP://169.254.169.254/latest',
    '//example.com/schema.json',
    'file:///etc/hostname',
    '../outside.json',
    '/etc/hostname',
    '%2e%2e/outside.json',
    'missing.json',
    '#/components/schemas/Missing',
  ])('to %s are refused, and nothing is read', (reference) => {
    write('../outside.json', '{"type":"string"}')
    expect(() => sell(documentOf(operation({ $ref: reference })), 'GET /x')).toThrow(/refers to|cannot be read/)
  })

  test('to themselves are refused', () => {
    const document = documentOf(operation({ $ref: '#/components/schemas/Tree' }), {
      components: { schemas: { Tree: { type: 'object', properties: { of: { $ref: '#/components/schemas/Tree' } } } } },
    })
    expect(() => sell(document, 'GET /x')).toThrow('operation "GET /x" refers to itself: #/components/schemas/Tree')
  })
})

describe('an operation is refused', () => {
  const parameter = (more: object) => ({ name: 'a', in: 'query', schema: { type: 'array', items: {} }, ...more })
  const body = (schema: object) => ({ requestBody: { content: { 'application/json': { schema } } } })
  test.each([
    ['GET /y', {}, 'is not known; did you mean GET /x?'],
    ['GET /x', { parameters: [parameter({ style: 'deepObject' })] }, 'only form is supported'],
    ['GET /x', { parameters: [parameter({ explode: false }), parameter({ name: 'b' })] }, 'joins some arrays'],
    ['GET /x', { parameters: [{ in: 'query' }] }, 'a parameter that is not valid'],
    ['POST /x', body({ type: 'array' }), 'a body that is not a JSON object'],
    [
      'POST /x',
      { parameters: [parameter({})], ...body({ type: 'object', properties: { a: {} } }) },
      '"a" in its body and outside',
    ],
    ['POST /x', { requestBody: { content: { '*/*': {} } } }, 'takes any media type'],
  ])('%s with %j', (name, more, problem) => {
    const operation = { ...answers, ...more }
    expect(() => sell(documentOf({ '/x': { get: operation, post: operation } }), name)).toThrow(problem)
  })

  test.each([
    ['/a/{b}.json', 'must be a whole segment'],
    ['/a/{b}', 'has no parameter for {b}'],
    ['/a#b', 'is not one'],
  ])('at the path %s', (path, problem) => {
    expect(() => sell(documentOf({ [path]: { get: answers } }), `GET ${path}`)).toThrow(problem)
  })

  test('of a document of OpenAPI 2', () => {
    const document = write('two.json', JSON.stringify({ swagger: '2.0', paths: {} }))
    expect(() => sell(document, 'GET /x')).toThrow('must be OpenAPI 3.0 or 3.1 (got "2.0")')
  })
})

describe('the file', () => {
  const head = 'version: 1\nupstreams: { pets: { url: "http://127.0.0.1:1" } }\nopenapi:\n'
  const entry = (more: string) => `  - { document: ${exampleOf('3.0/json/petstore.json')}, upstream: pets, ${more} }\n`

  test('sells operations by their names', () => {
    const routes = readFile(
      `${head}${entry('prefix: "/store", operations: ["GET /pet/{petId}", "GET /store/inventory"], price: { usd: 0.01 }')}`,
    )
    expect(routes.map(({ route, prices }) => [route.path, prices.priceMicroUsd])).toEqual([
      ['/store/pet/{petId}', 10_000n],
      ['/store/store/inventory', 10_000n],
    ])
  })

  test('sells operations below the name of their upstream', () => {
    const [sold] = readFile(`${head}${entry('operations: ["GET /store/inventory"], price: { usd: 0.01 }')}`)
    expect(sold?.route.path).toBe('/pets/store/inventory')
  })

  test('reports each mistake at its place', () => {
    const text = `${head}${entry('operations: ["GET /pets/{petId}"], price: { usd: 0.01 }')}${entry('operations: ["GET /pet/{petId}"], price: { usd: 0 }')}  - { document: none.json, upstream: pets, operations: ["GET /x"], price: { usd: 1 } }\n`
    expect(() => readFile(text)).toThrow(
      /openapi\[0\]\.operations\[0\]: operation "GET \/pets\/\{petId\}" is not known; did you mean GET \/pet\/\{petId\}\?[^]*openapi\[1\]\.price\.usd: [^]*openapi\[2\]\.document: .*none\.json cannot be read/,
    )
  })
})

test('a wrong price or address is refused with the entries, not when the file is checked', () => {
  const document = documentOf({ '/a': { get: { responses: {} } } })
  const order = { document, operations: ['GET /a'], priceUsd: 'free', upstream: 'acme', url: 'localhost:8080' }
  expect(() => importOpenApi(order)).toThrow(
    /upstreams\.acme\.url must be an http\(s\) URL.*; routes\.0\.price\.usd the price must be a decimal number/,
  )
})
