import { describe, expect, test } from 'vitest'
import { defaultSeller } from '../../src/product/seller.ts'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { x402Resources } from '../../src/document/discovery.ts'
import { nameEndpoints, paidOperation, schemasOf } from '../../src/document/paidOperation.ts'
import { paymentPage, payPathOf } from '../../src/document/paymentPage.ts'
import { shownParameters } from '../../src/document/shownParameters.ts'
import { programSamples } from '../../src/document/programSamples.ts'
import { samplesOf } from '../../src/document/samples.ts'
import { openTestEndpoint } from '../support/testProduct.ts'

const answers = () => Promise.reject(new Error('nothing is bought'))
const mount = { name: 'x402', description: { protocol: 'x402', request: 'there', mount: '/x402' } }
const documentEndpoint = (endpoint: ReturnType<typeof openTestEndpoint>) =>
  assertPresent(nameEndpoints([endpoint])[0], 'one product has one name')
const operationOf = (endpoint: ReturnType<typeof openTestEndpoint>) =>
  paidOperation(documentEndpoint(endpoint), { verdicts: [], rails: [], dollars: [], mint: 'Mint' })({
    baseUrl: '',
    price: undefined,
  })

const id = z.string()
const notes = openTestEndpoint({
  path: '/toy/notes/{id}/text',
  method: 'PUT',
  parameters: z.strictObject({ id, text: z.string() }),
  example: { id: "a/b'c", text: "it's" },
  deliver: answers,
})
const pictures = openTestEndpoint({
  path: '/toy/pictures/{name}',
  method: 'POST',
  rawBody: { contentTypes: ['image/png'] },
  parameters: z.strictObject({ name: id, size: id.exactOptional() }),
  example: { name: 'cat', size: 's' },
  deliver: answers,
})

describe('the operation of a product with segments', () => {
  test('has them in the path, and the rest in the body', () => {
    expect(operationOf(notes)).toMatchObject({
      operationId: 'putToyNotesIdText',
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'id', in: 'path', required: true })]),
      requestBody: {
        content: {
          'application/json': { schema: { properties: { text: {} }, required: ['text'] }, example: { text: "it's" } },
        },
      },
    })
    expect(Object.keys(schemasOf(documentEndpoint(notes)))).toContain('ToyNotesIdTextOrder')
  })

  test('and a raw body has its media types, and all other parameters in path and query', () => {
    const { parameters, requestBody } = z
      .looseObject({ parameters: z.array(z.looseObject({ name: z.string().optional(), in: z.string().optional() })) })
      .parse(operationOf(pictures))
    expect(parameters.slice(0, 2)).toMatchObject([
      { name: 'name', in: 'path' },
      { name: 'size', in: 'query', required: false },
    ])
    expect(requestBody).toEqual({ required: true, description: 'At most 65536 bytes.', content: { 'image/png': {} } })
  })
})

test('the samples are valid in a shell, whatever the example has', () => {
  expect(samplesOf(notes, { baseUrl: 'http://x', mint: 'Mint' }).pay).toBe(
    String.raw`npx tollbook pay PUT '/toy/notes/a%2Fb%27c/text' --json '{"text":"it\u0027s"}' --base-url http://x --mint Mint --max-usd 0.02`,
  )
  expect(samplesOf(pictures, { baseUrl: 'http://x', mint: 'Mint' })).toEqual({
    curl: expect.stringContaining(`-X POST 'http://x/toy/pictures/cat?size=s' `),
    pay: undefined,
  })
})

test('the programs that send a file import what reads it, once', () => {
  const sample = (fetchArguments: string) => `import { readFile } from 'node:fs/promises'\nfetch(${fetchArguments})`
  const rails = [{ ...mount, description: { ...mount.description, sample } }]
  const sources = programSamples(pictures, { baseUrl: 'http://x', mint: 'Mint', rails }).map(({ source }) => source)
  expect(sources).toHaveLength(2)
  for (const source of sources) {
    expect(source).toContain("body: await readFile('input')")
    expect(source.match(/^import \{ readFile \} from 'node:fs\/promises'$/gm)).toHaveLength(1)
  }
})

test('the list of x402 addresses has addresses that can be asked', () => {
  expect(
    x402Resources({ endpoints: [pictures], rails: [mount], seller: defaultSeller, dollars: [] }, 'http://x'),
  ).toMatchObject({
    resources: ['http://x/x402/toy/pictures/cat'],
  })
})

test('the payment page has an exact address, and sells no product that takes a file', () => {
  const pageOf = (endpoint: typeof notes) => {
    const at = payPathOf(endpoint.path)
    return paymentPage({
      endpoint,
      at,
      token: { symbol: 'TOLL' },
      mint: 'Mint',
      network: 'x',
      hasTestWallet: false,
      dollars: [],
      sellerName: 'Acme',
    })
  }
  expect(payPathOf(notes.path)).toBe('/pay/toy/notes/~id/text')
  expect(pageOf(notes)).toMatch(/data-page="\/pay\/toy\/notes\/~id\/text"[^]*name="id"/)
  expect(pageOf(pictures)).not.toMatch(/pay\.js|id="wallets"/)
})

test.each([
  [{}],
  [
    {
      type: 'object',
      properties: { a: true, b: { enum: [1, 2] }, c: { type: ['string', 'null'] }, d: { properties: { e: true } } },
    },
  ],
  [{ anyOf: [{ type: 'object' }], oneOf: [true] }],
])('any schema of an operator can be documented: %j', (schema) => {
  const odd = openTestEndpoint({
    path: '/toy/odd',
    parameters: z
      .unknown()
      .transform(() => ({}))
      .meta(schema),
    deliver: answers,
  })
  expect(operationOf(odd)).toMatchObject({ operationId: 'getToyOdd' })
  expect(shownParameters(odd.parameters)).toEqual(expect.any(String))
  expect(
    paymentPage({
      endpoint: odd,
      at: '/pay/toy/odd',
      sellerName: 'Acme',
      token: { symbol: 'T' },
      mint: 'M',
      network: 'x',
      hasTestWallet: false,
      dollars: [],
    }),
  ).toContain('<form')
})
