import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { assert, assertPresent } from '@tollbook/core/assert'
import { openRoutes } from '../../src/gateway/openRoutes.ts'
import { readProductsFile } from '../../src/gateway/readProductsFile.ts'
import { silentLog } from '../../src/machine/log.ts'
import { meteredEntries, priceEntries } from '../../src/pricing/priceList.ts'
import type { Outcome } from '../../src/product/product.ts'
import type { ProductOrder } from '../../src/product/productFacts.ts'
import { afterFile } from '../support/afterFile.ts'
import { answersJson, openLoopbackServer, type Script } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/* Routes with a price by use: the usage of an answer, and where it ends. */

const api = await openLoopbackServer(answersJson(200, {}))
const file = join(await makeScratchDirectory(), 'tollbook.yaml')
writeFileSync(
  file,
  `
version: 1
upstreams: { a: { url: "${api.url}", headers: { accept: text/of-operator, x-more: more } } }
routes:
  - path: /chat
    method: POST
    summary: Chat
    upstream: a
    to: /chat/completions
    price:
      by: /model
      usd: { small: "0.001", large: "0.01" }
      use: { large: { input_per_million: 10, output_per_million: 100, minimum: "0.0002" } }
    parameters:
      required: [model, messages]
      properties:
        model: { enum: [small, large] }
        messages: { type: array, maxItems: 9, items: { type: object } }
        max_tokens: { type: integer, maximum: 200 }
        stream: { type: boolean }
        stream_options: { type: object, properties: { include_usage: { type: boolean } } }
    example: { model: small, messages: [] }
    stream: passthrough
    success: { ends_with: "[DONE]" }
  - path: /limited
    method: POST
    summary: A chat with few tokens
    upstream: a
    to: /chat/completions
    price: { usd: "0.01", use: { input_per_million: 1, output_per_million: 1 } }
    parameters:
      required: [messages]
      properties:
        messages: { type: array, maxItems: 9, items: { type: object } }
        max_completion_tokens: { type: integer, maximum: 40 }
    example: { messages: [] }
  - path: /events
    summary: Events
    upstream: a
    to: /events
    price: { usd: "0.01", use: { per_million_bytes: 100 } }
    stream: passthrough
  - path: /any
    method: POST
    summary: A chat that takes what the API takes
    upstream: a
    to: /chat/completions
    price: { usd: "0.01", use: { input_per_million: 1, output_per_million: 100 } }
    parameters: { additionalProperties: true, properties: { max_tokens: { type: integer } } }
  - path: /quotes
    summary: Quotes
    upstream: a
    to: /quotes
    arrays: comma
    price: { usd: "0.001", per: /symbols }
    parameters: { required: [symbols], properties: { symbols: { type: array, minItems: 1, maxItems: 9 } } }
    example: { symbols: [A] }
  - path: /rows
    summary: Rows
    upstream: a
    to: /rows
    price: { usd: "0.01", use: { rows: /data/rows, per_row: "0.001", minimum: "0.002" } }
`,
)
const read = readProductsFile(file, { readVariable: () => ({ problem: 'is not set' }), handlerTimeoutMs: 30_000 })
const routes = openRoutes(read, {
  clock: systemClock,
  log: silentLog,
  version: '0',
  isProbed: false,
  onCall: () => undefined,
})
afterFile(routes.close)
const endpoints = routes.open(routes.products)

function orderFor(path: string, order: ProductOrder) {
  const found = assertPresent(
    endpoints.find((one) => one.path === path),
    'it is sold',
  )
  const checked = found.read(order)
  assert(checked.ok, 'the order is valid')
  return checked
}

/** Delivers an order that a tab pays. */
function deliver(path: string, order: ProductOrder = {}, budgetMicroUsd?: bigint): Promise<Outcome> {
  const checked = orderFor(path, order)
  const price = assertPresent(
    meteredEntries(routes.products).find(({ endpoint }) => endpoint === checked.endpoint),
    'it has a price by use',
  )
  const listed = priceEntries(routes.products).find(({ endpoint }) => endpoint === checked.endpoint)
  const metered = { price, budgetMicroUsd: budgetMicroUsd ?? listed?.priceMicroUsd ?? 0n }
  const signal = new AbortController().signal
  return checked.deliver({ signal, requestId: 'request', payer: 'payer', payment: 'payment', metered })
}

async function whole(...order: Parameters<typeof deliver>) {
  const outcome = await deliver(...order)
  assert(outcome.kind === 'raw', `the answer is sold (${JSON.stringify(outcome)})`)
  return outcome.usage
}

async function streamed(...order: Parameters<typeof deliver>) {
  const outcome = await deliver(...order)
  assert(outcome.kind === 'stream', `the answer is sold (${JSON.stringify(outcome)})`)
  const parts: Uint8Array[] = []
  for await (const part of outcome.chunks) parts.push(part)
  return { text: Buffer.concat(parts).toString(), usage: outcome.usageSoFar?.() }
}

/** Sends each text as it is. */
const sends =
  (...texts: readonly string[]): Script =>
  (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const text of texts) response.write(text)
    response.end()
  }
const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const word = (content: string) => event({ id: 'c1', model: 'm', choices: [{ index: 0, delta: { content } }] })
const reports = event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } })
const sentBody = () => z.record(z.string(), z.unknown()).parse(JSON.parse(api.asked.at(-1)?.body ?? ''))

beforeEach(() => {
  api.asked.length = 0
})

const hello = { model: 'large', messages: [{ role: 'user', content: 'Hello there' }] }

test('an order has no name that differs only in case from one that limits or counts tokens', () => {
  const readAny = (order: ProductOrder) => endpoints.find(({ path }) => path === '/any')?.read(order)
  for (const name of ['max_completion_tokens', 'n', 'best_of', 'messages', 'prompt', 'stream', 'tools', 'system'])
    expect(readAny({ [name.toUpperCase()]: 1 }), name).toMatchObject({ ok: false })
  expect(readAny({ n: 1, Temperature: 1 })).toMatchObject({ ok: true })
})

describe('tokens of a whole answer', () => {
  test('are those that the API reports, at most those that are possible', async () => {
    api.script(answersJson(200, { choices: [], usage: { prompt_tokens: 9, completion_tokens: 30 } }))
    expect(await whole('/chat', hello)).toEqual({ input: 9, output: 30, isEstimated: false })
    api.script(answersJson(200, { choices: [], usage: { prompt_tokens: 1e9, completion_tokens: 1e9 } }))
    const most = await whole('/chat', { ...hello, max_tokens: 50 })
    expect(most).toEqual({ input: Buffer.byteLength(api.asked.at(-1)?.body ?? ''), output: 50, isEstimated: false })
  })

  test.each([
    ['no usage', {}],
    ['no numbers', { usage: { prompt_tokens: null, completion_tokens: null } }],
    ['negative numbers', { usage: { prompt_tokens: -1, completion_tokens: 5 } }],
  ])('are counted if the API reports %s', async (_name, more) => {
    api.script(answersJson(200, { choices: [{ message: { role: 'assistant', content: 'Good day' } }], ...more }))
    // 11 bytes are 3 tokens, and 4 mark a message.
    expect(await whole('/chat', hello)).toEqual({ input: 7, output: 2, isEstimated: true })
  })

  test('are limited at the API to those that the budget pays for', async () => {
    api.script(answersJson(200, { choices: [] }))
    await deliver('/chat', hello)
    // 10,000 micro dollars less 70 for the input, at 100 each.
    expect(sentBody()).toEqual({ ...hello, max_tokens: 99 })
    await deliver('/chat', { ...hello, max_tokens: 3 })
    expect(sentBody()).toEqual({ ...hello, max_tokens: 3 })
    await deliver('/chat', { ...hello, max_tokens: 200 }, 570n)
    expect(sentBody()).toEqual({ ...hello, max_tokens: 5 })
    const { messages } = hello
    await deliver('/limited', { messages })
    expect(sentBody()).toEqual({ messages, max_completion_tokens: 40 })
  })

  test('are limited under each name that the order uses for the limit', async () => {
    api.script(answersJson(200, { choices: [] }))
    const limits = async (order: ProductOrder) => {
      await deliver('/any', order)
      const { max_tokens: old, max_completion_tokens: current } = sentBody()
      return [old, current]
    }
    expect(await limits({})).toEqual([100, undefined])
    expect(await limits({ max_completion_tokens: 5_000 })).toEqual([undefined, 100])
    expect(await limits({ max_tokens: 3, max_completion_tokens: 5_000 })).toEqual([3, 3])
  })

  test('are limited for all replies together, because an API applies its limit to each', async () => {
    api.script(answersJson(200, { choices: [1, 2].map(() => ({ message: { content: 'x'.repeat(5 * 16) } })) }))
    const limit = async (order: ProductOrder) => {
      await deliver('/any', order)
      return sentBody()['max_tokens']
    }
    expect(await limit({ n: 4 })).toBe(25)
    expect(await limit({ n: 2, best_of: 10, max_tokens: 30 })).toBe(10)
    expect(await limit({ prompt: ['a', 'b', 'c', 'd'], n: 5, max_tokens: 30 })).toBe(4)
    expect(await limit({ prompt: [101, 102], max_tokens: 30 })).toBe(30)
    expect(await limit({ n: 500 })).toBe(1)
    expect(await whole('/any', { n: 2, max_tokens: 5 })).toMatchObject({ output: 10 })
  })

  test('that are more than the API was asked for are not sold', async () => {
    api.script(answersJson(200, { choices: [{ message: { content: 'x'.repeat(3 * 16 + 1) } }] }))
    expect(await deliver('/chat', { ...hello, max_tokens: 3 })).toMatchObject({ kind: 'failed' })
  })

  test('of an order are counted before it, and an order with a fixed price has none', () => {
    expect(orderFor('/chat', hello).inputUnits).toBe(7)
    const tools = [{ type: 'function', function: { name: 'f', parameters: { properties: { ['x'.repeat(400)]: {} } } } }]
    expect(orderFor('/any', { tools, system: 'Be brief', prompt: [1, 2, 3] }).inputUnits).toBe(2 + 3 + 121)
    expect(orderFor('/rows', {}).inputUnits).toBeUndefined()
  })
})

describe('tokens of a stream', () => {
  const order = { ...hello, stream: true }

  test('are asked for, and the report is passed on only if the caller wants it', async () => {
    api.script(sends(word('Good'), word(' day'), reports, event('[DONE]')))
    expect(await streamed('/chat', order)).toEqual({
      text: word('Good') + word(' day') + event('[DONE]'),
      usage: { input: 7, output: 2, isEstimated: false },
    })
    expect(sentBody()).toMatchObject({ stream: true, max_tokens: 99, stream_options: { include_usage: true } })
    const wanted = await streamed('/chat', { ...order, stream_options: { include_usage: true } })
    expect(wanted.text).toContain(reports)
    const short = await streamed('/chat', { ...order, max_tokens: 5 })
    expect(short.text, 'a limit of the caller changes nothing').not.toContain(reports)
  })

  test('are counted if the API reports none, however its events are cut into pieces', async () => {
    const all = Buffer.from(word('Grüße') + word(' an dich') + event('[DONE]'))
    const pieces = Array.from(all, (_, at) => all.subarray(at, at + 1))
    api.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const piece of pieces) response.write(piece)
      response.end()
    })
    expect(await streamed('/chat', order)).toEqual({
      text: all.toString(),
      usage: { input: 7, output: 4, isEstimated: true },
    })
  })

  test('end where the budget ends, which the stream says', async () => {
    api.script(sends(...Array.from({ length: 20 }, () => word('sixteen letters.')), event('[DONE]')))
    const { text, usage } = await streamed('/chat', order, 570n)
    expect(text).toBe(
      word('sixteen letters.').repeat(5) +
        event({
          id: 'c1',
          model: 'm',
          choices: [{ index: 0, delta: {}, finish_reason: 'length' }],
          stoppedBy: 'limit',
        }) +
        event('[DONE]'),
    )
    expect(usage).toEqual({ input: 7, output: 5, isEstimated: true })
  })

  test('that the API ends at the budget say so too', async () => {
    const end = { choices: [{ finish_reason: 'length', index: 0, delta: {} }] }
    api.script(sends(word('Good'), event(end), event('[DONE]')))
    expect((await streamed('/chat', order)).text).toContain(event({ ...end, stoppedBy: 'limit' }))
    const own = await streamed('/chat', { ...order, max_tokens: 1 })
    expect(own.text).toContain(event(end))
  })

  test('of a caller who leaves are those that were passed on', async () => {
    api.script(sends(word('Good day'), word(' to you'), event('[DONE]')))
    const outcome = await deliver('/chat', order)
    assert(outcome.kind === 'stream', 'the answer is streamed')
    for await (const part of outcome.chunks) {
      expect(Buffer.from(part).toString()).toContain('Good day')
      break
    }
    expect(outcome.usageSoFar?.()).toEqual({ input: 7, output: 2, isEstimated: true })
  })

  test('that break are not sold', async () => {
    api.script(sends(word('Good day')))
    await expect(streamed('/chat', order)).rejects.toThrow()
  })
})

describe('bytes', () => {
  test('of a whole answer are counted', async () => {
    api.script(answersJson(200, { a: 'ä' }))
    expect(await whole('/events')).toEqual({ input: 0, output: 10, isEstimated: false })
  })

  test('of a stream are counted, up to those that the budget pays for', async () => {
    const events = [event('one'), event('two'), event('three')]
    api.script(sends(...events))
    expect(await streamed('/events')).toEqual({
      text: events.join(''),
      usage: { input: 0, output: events.join('').length, isEstimated: false },
    })
    // 25 bytes: the third event does not fit.
    expect(await streamed('/events', {}, 2_500n)).toEqual({
      text: `${event('one')}${event('two')}event: limit\ndata: {"stoppedBy":"limit"}\n\n`,
      usage: { input: 0, output: 22, isEstimated: false },
    })
    api.script(sends(...events.slice(0, 2)))
    expect((await streamed('/events', {}, 2_200n)).text, 'exactly what is paid').toBe(events.slice(0, 2).join(''))
  })
})

test('an item with a comma is refused where commas separate the items, because the price counts one', async () => {
  const read = (symbols: string) => endpoints.find(({ path }) => path === '/quotes')?.read({ symbols })
  for (const symbols of ['["A,B,C"]', '["A",["B","C"]]']) {
    const refused = read(symbols)
    expect(refused).toMatchObject({ ok: false })
    expect(JSON.stringify(refused)).toContain('comma')
  }
  api.script(answersJson(200, {}))
  const order = orderFor('/quotes', { symbols: 'A,B' })
  expect(order.endpoint).toContain('symbols=2')
  await order.deliver({ signal: new AbortController().signal, requestId: 'r', payer: 'p', payment: 'p' })
  expect(api.asked.at(-1)?.path).toBe('/quotes?symbols=A%2CB')
})

test('an example that the sale would refuse for a comma is refused at the start', async () => {
  const path = join(await makeScratchDirectory(), 'comma.yaml')
  const start = (arrays: string) => {
    const parameters = '{ properties: { s: { type: array } } }'
    const route = `{ path: /x, summary: X, upstream: a, to: /x, price: { usd: "0.01" }, arrays: ${arrays}, parameters: ${parameters}, example: { s: ["A,B"] } }`
    writeFileSync(path, `version: 1\nupstreams: { a: { url: "${api.url}" } }\nroutes: [${route}]\n`)
    return readProductsFile(path, { readVariable: () => ({ problem: 'is not set' }), handlerTimeoutMs: 30_000 })
  }
  expect(start('repeat').routes).toHaveLength(1)
  expect(() => start('comma')).toThrow('routes[0].example: has a comma inside an item of s, which `arrays` joins')
})

test('a header of the operator takes the place of that of the service', async () => {
  api.script(answersJson(200, { a: 1 }))
  await whole('/events')
  expect(api.asked.at(-1)?.headers).toMatchObject({ accept: 'text/of-operator', 'x-more': 'more' })
})

describe('rows', () => {
  test.each([
    ['items of an array', [1, 2, 3], 3],
    ['a number', 12, 12],
    ['none', [], 0],
  ])('are %s', async (_name, rows, output) => {
    api.script(answersJson(200, { data: { rows } }))
    expect(await whole('/rows')).toEqual({ input: 0, output, isEstimated: false })
  })

  test.each([undefined, null, '3', -1, 1.5, 1e300, {}])('that cannot be counted (%j) are not sold', async (rows) => {
    api.script(answersJson(200, { data: { rows } }))
    expect(await deliver('/rows')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })
})
