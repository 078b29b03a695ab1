import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chatCompletions } from '../../src/products/chat/chatCompletions.ts'
import { openAiError } from '../../src/products/chat/openAiForm.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import type { Outcome } from '../../src/product/product.ts'
import { assert } from '@tollbook/core/assert'
import {
  clock,
  first,
  key,
  message,
  openChat,
  openChatServers,
  openCompletions,
  resetChat,
  says,
  second,
  seen,
} from '../support/chatFixture.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { answersText, type Script } from '../support/loopbackServer.ts'

await openChatServers()
beforeEach(resetChat)

/** Answers with events, one write each. */
function answersEvents(...data: readonly (object | string)[]): Script {
  return (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const one of data) response.write(`data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`)
    response.end()
  }
}

const chunk = (delta: object, finishReason: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_795_178_961,
  model: 'llama3.2',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
  ...more,
})
const texts = (...contents: readonly string[]) => contents.map((content) => chunk({ content }))
const usageChunk = chunk({}, null, { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } })

async function deliver(endpoint: Endpoint, order: object, signal = new AbortController().signal): Promise<Outcome> {
  const read = endpoint.read(order)
  assert(read.ok, read.ok ? 'legal' : JSON.stringify(read.issues))
  return read.deliver({ signal, requestId: 'request_1', payer: 'wallet_1', payment: 'payment_1' })
}

/** The events of a streamed answer, and whether it broke. */
async function eventsOf(outcome: Outcome): Promise<{ readonly events: readonly string[]; readonly broke: boolean }> {
  assert(outcome.kind === 'stream', JSON.stringify(outcome))
  let sent = ''
  try {
    for await (const bytes of outcome.chunks) sent += Buffer.from(bytes).toString()
  } catch {
    return { events: sent.split('\n\n').filter((event) => event !== ''), broke: true }
  }
  return { events: sent.split('\n\n').filter((event) => event !== ''), broke: false }
}

const streamed = { message: 'Say hi', stream: true }
const issuesOf = (endpoint: Endpoint, order: object) => {
  const read = endpoint.read(order)
  return read.ok ? [] : read.issues.map(({ path }) => path.join('.'))
}

test('a client of OpenAI reads the kind of an error and its first field, and our own members stay', () => {
  const typeOf = (status: number) => Object(openAiError(status, { error: 'x' })).error.type
  expect([400, 401, 402, 404, 429, 500, 503].map(typeOf)).toEqual([
    'invalid_request_error',
    'authentication_error',
    'payment_required',
    'invalid_request_error',
    'rate_limit_error',
    'server_error',
    'server_error',
  ])
  const details = [{ field: 'model', message: 'y' }, { field: 'n' }]
  expect(openAiError(400, { error: 'x', code: 'INVALID_REQUEST', details, more: 1 })).toEqual({
    error: { message: 'x', type: 'invalid_request_error', param: 'model', code: 'INVALID_REQUEST' },
    code: 'INVALID_REQUEST',
    details,
    more: 1,
  })
})

test('a conversation may have 16,000 characters together, and not one more', () => {
  const long = { role: 'user', content: 'x'.repeat(8_000) }
  const order = (...messages: readonly object[]) => issuesOf(openChat(), { messages })
  expect([order(long, long), order(long, long, { role: 'user', content: 'y' })]).toEqual([[], ['messages']])
})

describe('an order', () => {
  test('has its conversation, system prompt, model and sampling sent to the server that has the model', async () => {
    const chat = openChat({ servers: [first, second] })
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ]
    first.script(says({}, message('{"d":1}')))
    await deliver(chat, { messages, system: 's', model: 'larger', temperature: 0.5, maxTokens: 9, json: true })
    expect(JSON.parse(first.asked[0]?.body ?? '')).toEqual({
      model: 'larger',
      messages: [{ role: 'system', content: 's' }, ...messages],
      max_tokens: 9,
      temperature: 0.5,
      response_format: { type: 'json_object' },
    })
    await deliver(chat, { message: 'x', model: 'other-model' })
    expect(JSON.parse(second.asked[0]?.body ?? '')).toMatchObject({ model: 'other-model' })
  })

  test('in the plain form of the specification keeps its digest: the parameters are the message alone', () => {
    const read = openChat().read({ message: 'Say hi' })
    expect(read.ok && read.parameters).toEqual({ message: 'Say hi' })
  })

  test('is refused before a quote when a field is wrong', () => {
    const chat = openChat({ servers: [first, second] })
    expect(issuesOf(chat, {})).toEqual(['message'])
    expect(issuesOf(chat, { message: 'a', messages: [{ role: 'user', content: 'a' }] })).toEqual(['message'])
    expect(issuesOf(chat, { message: 'a', model: 'gpt' })).toEqual(['model'])
    expect(issuesOf(chat, { message: 'a', maxTokens: 257 })).toEqual(['maxTokens'])
    expect(issuesOf(chat, { message: 'a', temperature: 2.1 })).toEqual(['temperature'])
    const long = { role: 'user', content: 'x'.repeat(8_000) }
    expect(issuesOf(chat, { messages: [long, long, { role: 'user', content: 'y' }] })).toEqual(['messages'])
  })

  test('names the model and the tokens that its price covers', () => {
    const read = openChat().read({ message: 'a', maxTokens: 20 })
    expect(read.ok && read.covers?.()).toEqual({ model: 'llama3.2', outputTokensMax: 20 })
    const plain = openCompletions().read({ model: 'larger', messages: [{ role: 'user', content: 'a' }] })
    expect(plain.ok && plain.covers?.()).toEqual({ model: 'larger', outputTokensMax: 256 })
    // The first server answers only those who pay for its model.
    const modelPrices = new Map([['llama3.2', { priceMicroUsd: 250_000n, outputTokensMax: undefined }]])
    const unnamed = openChat({ servers: [first, second], modelPrices }).read({ message: 'a' })
    expect(unnamed.ok && unnamed.covers?.()).toEqual({ model: 'other-model', outputTokensMax: 256 })
  })

  test('pays for the tokens of its model, whose limit may be its own', async () => {
    const modelPrices = new Map([['larger', { priceMicroUsd: 250_000n, outputTokensMax: 512 }]])
    const chat = openChat({ servers: [first, second], modelPrices })
    const read = chat.read({ message: 'a', model: 'larger' })
    expect(read.ok && { endpoint: read.endpoint, covers: read.covers?.() }).toEqual({
      endpoint: '/api/ai/chat#larger',
      covers: { model: 'larger', outputTokensMax: 512 },
    })
    await deliver(chat, { message: 'a', model: 'larger' })
    expect(JSON.parse(first.asked[0]?.body ?? '')).toMatchObject({ model: 'larger', max_tokens: 512 })
    expect(issuesOf(chat, { message: 'a', model: 'larger', maxTokens: 512 })).toEqual([])
    expect(issuesOf(chat, { message: 'a', model: 'larger', maxTokens: 513 })).toEqual(['maxTokens'])
    expect(issuesOf(chat, { message: 'a', maxTokens: 257 })).toEqual(['maxTokens'])
    const order = { model: 'llama3.2', messages: [{ role: 'user', content: 'a' }], max_completion_tokens: 300 }
    expect(issuesOf(openCompletions({ modelPrices }), order)).toEqual(['max_completion_tokens'])
  })

  test('without a model is not answered by a model that costs more, though it is the first of its server', async () => {
    const modelPrices = new Map([['other-model', { priceMicroUsd: 250_000n, outputTokensMax: undefined }]])
    first.script(answersText(500, ''))
    const chat = openChat({ servers: [first, second], modelPrices })
    expect(await deliver(chat, { message: 'a' })).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(second.asked).toEqual([])
  })

  test('for JSON is not answered with a text that is none', async () => {
    first.script(says({}, message('no JSON')))
    expect(await deliver(openChat(), { message: 'a', json: true })).toMatchObject({ kind: 'failed' })
  })
})

describe('a streamed reply', () => {
  test('is sent text by text and ends with model, reason and usage', async () => {
    first.script(answersEvents(...texts('Hi', ' there'), chunk({}, 'stop'), usageChunk, '[DONE]'))
    const outcome = await deliver(openChat(), streamed)
    expect(outcome).toMatchObject({ kind: 'stream', contentType: 'text/event-stream; charset=utf-8' })
    const usage = { promptTokens: 5, completionTokens: 2, totalTokens: 7 }
    expect(await eventsOf(outcome)).toEqual({
      broke: false,
      events: [
        'data: {"text":"Hi"}',
        'data: {"text":" there"}',
        `event: end\ndata: ${JSON.stringify({ model: 'llama3.2', finishReason: 'stop', usage })}`,
      ],
    })
    expect(JSON.parse(first.asked[0]?.body ?? '')).toMatchObject({ stream: true, max_tokens: 256 })
  })

  test('has the chunks of OpenAI for its clients', async () => {
    first.script(answersEvents(...texts('Hi'), chunk({}, 'length'), usageChunk, '[DONE]'))
    const order = {
      model: 'llama3.2',
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'be short' }] },
        { role: 'user', content: 'hi' },
      ],
      max_completion_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    }
    const { events } = await eventsOf(await deliver(openCompletions(), order))
    const head = { id: 'chatcmpl-request_1', object: 'chat.completion.chunk', model: 'llama3.2' }
    const read = events.slice(0, -1).map((event) => z.looseObject({}).parse(JSON.parse(event.replace('data: ', ''))))
    expect(read).toMatchObject([
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      { choices: [{ delta: { content: 'Hi' }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: 'length' }] },
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
    ])
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(JSON.parse(first.asked[0]?.body ?? '')).toMatchObject({
      messages: [{ role: 'system', content: 'be short' }, { role: 'user' }],
      max_tokens: 5,
    })
  })

  test.each([
    ['a server error', answersText(500, '')],
    ['no text', answersEvents(chunk({}, 'stop'), '[DONE]')],
    ['reasoning alone', answersEvents(chunk({ reasoning_content: 'so' }), chunk({}, 'length'), '[DONE]')],
    ['a page', answersText(200, '<html></html>')],
    ['an error instead of a chunk', answersEvents({ error: { message: key } })],
  ])('with %s before its first text is asked of the next server, or fails whole', async (_what, script) => {
    first.script(script)
    second.script(answersEvents(...texts('Hi'), chunk({}, 'stop'), '[DONE]'))
    expect((await eventsOf(await deliver(openChat({ servers: [first, second] }), streamed))).broke).toBe(false)
    expect(await deliver(openChat(), streamed)).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test.each([
    ['the connection', answersEvents(...texts('Hi'))],
    ['an error', answersEvents(...texts('Hi'), { error: { message: key } })],
    ['no JSON', answersEvents(...texts('Hi'), '{"choices":[')],
  ])('that %s ends breaks, so that the payment is released', async (_what, script) => {
    first.script(script)
    const { events, broke } = await eventsOf(await deliver(openChat(), streamed))
    expect({ broke, first: events[0] }).toEqual({ broke: true, first: 'data: {"text":"Hi"}' })
  })

  test('ends with the last event, though the server leaves its connection open', async () => {
    first.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const one of [...texts('Hi'), chunk({}, 'stop'), usageChunk])
        response.write(`data: ${JSON.stringify(one)}\n\n`)
      response.write('data: [DONE]\n\n')
    })
    const { events } = await eventsOf(await deliver(openChat(), streamed))
    expect(events.at(-1)).toContain('"finishReason":"stop","usage":{"promptTokens":5')
  })

  test('that takes longer than the time of a stream is cut, and not broken: a long text is not free', async () => {
    first.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const writing = setInterval(() => response.write(`data: ${JSON.stringify(texts('Hi')[0])}\n\n`), 1)
      response.on('close', () => clearInterval(writing))
    })
    const chat = openChat({ streamMsMax: 4_050, silentMsMax: 4_000 })
    const { events, broke } = await eventsOf(await deliver(chat, streamed))
    expect(broke).toBe(false)
    expect(events.at(-1)).toContain('"finishReason":"length"')
    await awaitThat('the server is judged', () => seen.calls.length > 0)
    expect(seen.calls).toEqual(['ai-1 answered'])
  })

  test.each([
    ['at once', () => undefined],
    [
      'behind comments and chunks without text',
      (response: ServerResponse) => {
        const empty = setInterval(() => response.write(`: working\n\ndata: ${JSON.stringify(chunk({}))}\n\n`), 1)
        response.on('close', () => clearInterval(empty))
      },
    ],
  ])('that falls silent %s breaks, so that the payment is released', async (_how, then) => {
    first.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(texts('Hi')[0])}\n\n`)
      then(response)
    })
    const chat = openChat({ silentMsMax: 50 })
    const { events, broke } = await eventsOf(await deliver(chat, streamed))
    expect({ broke, events }).toEqual({ broke: true, events: ['data: {"text":"Hi"}'] })
    expect(seen.calls).toEqual(['ai-1 timeout'])
  })

  test('is not silent while the model reasons', async () => {
    first.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const send = (one: object) => response.write(`data: ${JSON.stringify(one)}\n\n`)
      send(chunk({ content: 'Hi' }))
      let left = 20
      const reasoning = setInterval(() => {
        clock.advance(100)
        if (left-- > 0) return send(chunk({ content: '', reasoning_content: 'so' }))
        clearInterval(reasoning)
        send(chunk({ content: ' there' }, 'stop'))
        return response.end('data: [DONE]\n\n')
      }, 1)
    })
    const { events, broke } = await eventsOf(await deliver(openChat({ silentMsMax: 1_000 }), streamed))
    expect({ broke, second: events[1] }).toEqual({ broke: false, second: 'data: {"text":" there"}' })
  })

  test('is whole when its server has said why it ended and then falls silent', async () => {
    first.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // In one piece, so that no pause is between them.
      response.write([...texts('Hi'), chunk({}, 'stop')].map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))
    })
    const { events, broke } = await eventsOf(await deliver(openChat({ silentMsMax: 50 }), streamed))
    expect(broke).toBe(false)
    expect(events.at(-1)).toContain('"finishReason":"stop"')
  })

  test('that a server never begins is asked of the next server', async () => {
    first.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(chunk({ role: 'assistant', content: '' }))}\n\n`)
      const passing = setInterval(() => clock.advance(1_000), 1)
      response.on('close', () => clearInterval(passing))
    })
    second.script(answersEvents(...texts('Hi'), chunk({}, 'stop'), '[DONE]'))
    const chat = openChat({ servers: [first, second], timeoutMs: 60_000 })
    expect((await eventsOf(await deliver(chat, streamed))).events[0]).toBe('data: {"text":"Hi"}')
  })

  test.each([
    ['the content filter', [chunk({}, 'content_filter')]],
    ['a refusal', [chunk({ refusal: 'I cannot' }), chunk({}, 'stop')]],
    ['a call of a tool that was not offered', [chunk({}, 'tool_calls')]],
  ])('that %s ends breaks, so that the payment is released', async (_what, end) => {
    first.script(answersEvents(...texts('Hi'), ...end, '[DONE]'))
    for (const open of [openChat, openCompletions]) {
      const order = open === openChat ? streamed : { messages: [{ role: 'user', content: 'hi' }], stream: true }
      const { events, broke } = await eventsOf(await deliver(open(), order))
      expect({ broke, done: events.join('').includes('[DONE]') }).toEqual({ broke: true, done: false })
    }
    // The server works: the next caller is answered by it.
    expect(seen.calls).toEqual(['ai-1 not_covered', 'ai-1 not_covered'])
  })

  test('of a server that ignores the limit is cut, and says so', async () => {
    const endless = ['x'.repeat(200), `${'y'.repeat(55)}🚀z`]
    first.script(answersEvents(...texts(...endless, 'z'), chunk({}, 'stop'), '[DONE]'))
    const { events, broke } = await eventsOf(await deliver(openChat(), { ...streamed, maxTokens: 2 }))
    expect(broke).toBe(false)
    const sent = [...events.join('').matchAll(/"text":"([^"]*)"/g)].map(([, text = '']) => text)
    expect(sent.join('')).toBe(`${'x'.repeat(200)}${'y'.repeat(55)}`)
    expect(events.at(-1)).toContain('"finishReason":"length"')
    first.script(says({}, message('x'.repeat(257))))
    expect(await deliver(openChat(), { message: 'a', maxTokens: 2 })).toMatchObject({
      data: { reply: 'x'.repeat(256) },
      meta: { finishReason: 'length' },
    })
  })

  test('has no reasoning that its server marks, and keeps a character that the server splits', async () => {
    const [high = '', low = ''] = '🚀'.split('')
    const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'so' }] }]
    const reply = [chunk({ content: thinking }), chunk({ reasoning: 'so' }), ...texts('\n', `<b> ${high}`, low)]
    first.script(answersEvents(...reply, chunk({ content: [{ type: 'text', text: '!' }] }), chunk({}, 'stop')))
    const { events } = await eventsOf(await deliver(openChat(), streamed))
    const said = events.slice(0, -1).map((one) => z.object({ text: z.string() }).parse(JSON.parse(one.slice(6))).text)
    expect(said).toEqual(['\n<b> ', '🚀', '!'])
  })

  test('that has no text yet but white space is asked of the next server', async () => {
    first.script(answersEvents(...texts(' ', '\n')))
    second.script(answersEvents(...texts('Hi'), chunk({}, 'stop'), '[DONE]'))
    const { events } = await eventsOf(await deliver(openChat({ servers: [first, second] }), streamed))
    expect(events[0]).toBe('data: {"text":"Hi"}')
  })
})

describe('a whole completion', () => {
  test('is the body of OpenAI, without an envelope', async () => {
    const order = { model: 'llama3.2', messages: [{ role: 'user', content: 'hi' }] }
    const outcome = await deliver(openCompletions(), order)
    assert(outcome.kind === 'raw', 'it is sent as it is')
    expect(outcome.contentType).toBe('application/json; charset=utf-8')
    const sent: unknown = JSON.parse(Buffer.from(outcome.bytes).toString())
    expect(chatCompletions.answer.safeParse(sent).error?.issues ?? []).toEqual([])
    expect(sent).toMatchObject({ choices: [{ message: { content: 'Hi!' } }], usage: { total_tokens: 30 } })
  })
})
