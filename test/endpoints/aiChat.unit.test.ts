import { readFile } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { aiChat } from '../../src/endpoints/aiChat.ts'
import { chatCompletions } from '../../src/endpoints/chatCompletions.ts'
import type { Endpoint } from '../../src/endpoints/endpoint.ts'
import { openEndpoint } from '../../src/endpoints/productDefinition.ts'
import type { Outcome } from '../../src/product/product.ts'
import { createChatServer } from '../../src/outbound/chatServer.ts'
import { assert } from '@tollbook/core/assert'
import { createLog } from '../../src/primitives/log.ts'
import {
  answersJson,
  answersText,
  type LoopbackServer,
  openLoopbackServer,
  type Script,
} from '../support/loopbackServer.ts'
import { shiftedClock } from '../support/shiftedClock.ts'

const key = 'sk-very-secret-0123456789'
const first = await openLoopbackServer(answersText(500, ''))
const second = await openLoopbackServer(answersText(500, ''))

let logged = ''
const destination = new Writable({
  write(chunk, _encoding, done) {
    logged += String(chunk)
    done()
  },
})
let calls: string[] = []

interface Rig {
  readonly servers?: readonly LoopbackServer[]
  readonly baseUrl?: string
  readonly apiKey?: string | undefined
  readonly timeoutMs?: number
  readonly sampleUpstreams?: boolean
  readonly opensReasoning?: boolean
  readonly streamMsMax?: number
}

const clock = shiftedClock()

function open(definition: typeof aiChat, rig: Rig): Endpoint {
  const { servers = [first], timeoutMs = 5_000, sampleUpstreams = false } = rig
  const deps = {
    clock,
    log: createLog({ level: 'debug', name: 'test', destination }),
    version: '0.1.0',
    contact: 'ops@example.com',
    onCall: ({ upstream, outcome }: { upstream: string; outcome: string }) => void calls.push(`${upstream} ${outcome}`),
  }
  const chatServers = servers.map((server, index) =>
    createChatServer(deps, {
      label: `ai-${index + 1}`,
      baseUrl: rig.baseUrl ?? `${server.url}/v1`,
      models: index === 0 ? ['llama3.2', 'larger'] : ['other-model'],
      opensReasoning: rig.opensReasoning ?? false,
      apiKey: 'apiKey' in rig ? rig.apiKey : key,
      outputTokensMax: 256,
      timeoutMs,
    }),
  )
  const chatLimits = { outputTokensMax: 256, streamMsMax: rig.streamMsMax ?? 5_000 }
  return openEndpoint(definition, { clock, sampleUpstreams, isProbed: false, chatServers, chatLimits })
}

const openChat = (rig: Rig = {}) => open(aiChat, rig)
const openCompletions = (rig: Rig = {}) => open(chatCompletions, rig)

async function say(endpoint: Endpoint, message = 'Say hi', signal = new AbortController().signal): Promise<Outcome> {
  const read = endpoint.read({ message })
  assert(read.ok, 'the message is legal')
  return read.deliver({ signal, requestId: 'request_1' })
}

const completion = (more: object = {}, choice: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_795_178_961,
  model: 'llama3.2',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop', ...choice }],
  usage: { prompt_tokens: 27, completion_tokens: 3, total_tokens: 30 },
  ...more,
})
const says = (more: object = {}, choice: object = {}): Script => answersJson(200, completion(more, choice))
const message = (content: unknown, more: object = {}) => ({ message: { role: 'assistant', content, ...more } })

beforeEach(() => {
  logged = ''
  calls = []
  for (const server of [first, second]) {
    server.asked.length = 0
    server.script(says())
  }
})
afterEach(() => {
  vi.useRealTimers()
  expect(logged).not.toContain('sk-very')
})

describe('the samples of the facts', () => {
  const sample = z.object({
    request: z.object({ body: z.unknown() }),
    response: z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.unknown() }),
  })
  const readSample = async (name: string) =>
    sample.parse(
      JSON.parse(await readFile(new URL(`../fixtures/openaiCompatible/${name}.json`, import.meta.url), 'utf8')),
    )

  test('chat-ok: the request is the one of the protocol, and the reply is returned with model and usage', async () => {
    const { request, response } = await readSample('chat-ok')
    first.script(answersJson(response.status, response.body, response.headers))
    expect(await say(openChat())).toMatchObject({
      kind: 'delivered',
      data: { reply: 'Hi!', model: 'llama3.2', usage: { promptTokens: 27, completionTokens: 3, totalTokens: 30 } },
      meta: { source: 'self-hosted', finishReason: 'stop', cached: false },
    })
    const [asked] = first.asked
    expect(asked).toMatchObject({ method: 'POST', path: '/v1/chat/completions' })
    expect(JSON.parse(asked?.body ?? '')).toEqual(request.body)
  })

  test('rate-limited-429: the caller does not see it, and the server is skipped for as long as it requests', async () => {
    const { response } = await readSample('rate-limited-429')
    first.script(answersJson(response.status, response.body, response.headers))
    const chat = openChat()
    expect(await say(chat)).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    clock.advance(1_900)
    expect(chat.whyUnavailable()).toBeDefined()
    clock.advance(200)
    expect(chat.whyUnavailable()).toBeUndefined()
  })
})

describe('what is sent', () => {
  test('is the key and our name, and nothing from the environment', async () => {
    vi.stubEnv('OPENAI_ORG_ID', 'org-of-somebody')
    vi.stubEnv('OPENAI_ADMIN_KEY', 'sk-admin')
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-leak: yes')
    await say(openChat())
    vi.unstubAllEnvs()
    const { headers } = first.asked[0] ?? { headers: {} }
    expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'user-agent': 'Tollbook/0.1.0 (+ops@example.com)' })
    expect(Object.keys(headers).filter((name) => /openai|stainless|leak/.test(name))).toEqual([])
  })

  test('has no authorization where no key is set, as Ollama needs none', async () => {
    await say(openChat({ apiKey: undefined }))
    expect(first.asked[0]?.headers.authorization).toBeUndefined()
  })

  test('is the same message, to the last character of 8,000', async () => {
    const long = `${'🚀'.repeat(7_998)}\n"`
    await say(openChat(), long)
    expect(JSON.parse(first.asked[0]?.body ?? '')).toMatchObject({ messages: [{ role: 'user', content: long }] })
  })

  test('a model that knows the limit under its new name only is asked again with that one, and then at once', async () => {
    first.script((asked, response) => {
      const isOld = asked.body.includes('"max_tokens"')
      const body = {
        error: {
          message: `no (${key})`,
          type: 'invalid_request_error',
          param: 'max_tokens',
          code: 'unsupported_parameter',
        },
      }
      ;(isOld ? answersJson(400, body) : says())(asked, response)
    })
    const chat = openChat()
    expect(await say(chat)).toMatchObject({ kind: 'delivered' })
    expect(await say(chat)).toMatchObject({ kind: 'delivered' })
    expect(first.asked.map(({ body }) => /max_\w+/.exec(body)?.[0])).toEqual([
      'max_tokens',
      'max_completion_tokens',
      'max_completion_tokens',
    ])
  })
})

describe('the reasoning of a model', () => {
  test.each([
    ['<think>\nThe user greets.\n</think>\n\nHi!'],
    ['<think></think>Hi!'],
    ['<thinking>a <b> c</thinking><reasoning>d</reasoning> Hi!'],
    ['The template has opened the tag. </think>\nHi!'],
    ['[THINK]so[/THINK]Hi!'],
    ['◁think▷so◁/think▷Hi!'],
    ['<|channel|>analysis<|message|>The user greets.<|end|><|start|>assistant<|channel|>final<|message|>Hi!'],
  ])('in %j is not part of the reply', async (content) => {
    first.script(says({}, message(content)))
    expect(await say(openChat())).toMatchObject({ kind: 'delivered', data: { reply: 'Hi!' } })
  })

  test.each([['<think>It was cut in the middle of'], ['<think>all of it</think> \n'], ['[THINK]and so on']])(
    'alone is not sold as a reply: %j',
    async (content) => {
      first.script(says({}, { ...message(content), finish_reason: 'length' }))
      expect(await say(openChat())).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    },
  )

  test.each([['Write <think> and </think> around it.'], ['The tag is `</think>`, after `<think>`.']])(
    'is not seen in a reply that speaks of the tags: %j',
    async (content) => {
      first.script(says({}, message(content)))
      expect(await say(openChat())).toMatchObject({ kind: 'delivered', data: { reply: content } })
    },
  )
})

describe('answers that are delivered', () => {
  const none = { promptTokens: null, completionTokens: null, totalTokens: null }
  test.each([
    ['cut at the limit', says({}, { finish_reason: 'length' }), { meta: { finishReason: 'length' } }],
    ['without a reason to end', says({}, { finish_reason: null }), { meta: { finishReason: 'unknown' } }],
    ['without usage', says({ usage: undefined }), { data: { usage: none } }],
    ['with usage null', says({ usage: null }), { data: { usage: none } }],
    [
      'with usage that is nonsense',
      says({ usage: { prompt_tokens: '7', total_tokens: -1 } }),
      { data: { usage: none } },
    ],
    [
      'with usage without a total',
      says({ usage: { prompt_tokens: 4, completion_tokens: 5 } }),
      { data: { usage: { promptTokens: 4, completionTokens: 5, totalTokens: 9 } } },
    ],
    ['without a model', says({ model: undefined }), { data: { model: 'llama3.2' } }],
    ['of a model that calls itself otherwise', says({ model: 'llama3.2:1b' }), { data: { model: 'llama3.2:1b' } }],
    ['with error: null', says({ error: null }), { data: { reply: 'Hi!' } }],
    ['with a lone surrogate', says({}, message('a\ud800b')), { data: { reply: 'a\ufffdb' } }],
    ['under no media type', answersText(200, JSON.stringify(completion())), { data: { reply: 'Hi!' } }],
  ])('%s', async (_what, script, expected) => {
    first.script(script)
    expect(await say(openChat())).toMatchObject({ kind: 'delivered', ...expected })
  })

  test('of samples say so', async () => {
    const outcome = await say(openChat({ sampleUpstreams: true }))
    expect(outcome).toMatchObject({ meta: { source: 'sample:openai-compatible' } })
  })
})

const noAnswers: readonly (readonly [string, Script])[] = [
  ['content null', says({}, message(null))],
  ['content missing', says({}, { message: { role: 'assistant' } })],
  ['empty content', says({}, message(''))],
  ['white space', says({}, message(' \n'))],
  ['empty content cut at the limit', says({}, { ...message(''), finish_reason: 'length' })],
  ['a refusal', says({}, message(null, { refusal: 'I cannot help with that' }))],
  ['a content filter', says({}, { ...message('some'), finish_reason: 'content_filter' })],
  ['a tool call', says({}, { ...message(null, { tool_calls: [{}] }), finish_reason: 'tool_calls' })],
  ['no choices', says({ choices: [] })],
  ['another shape', answersJson(200, { reply: 'Hi!' })],
  ['content in parts', says({}, message([{ type: 'text', text: 'Hi!' }]))],
  ['JSON null', answersJson(200, null)],
  ['no body', answersText(200, '')],
  ['HTML', answersText(200, `<html>${key}</html>`, { 'content-type': 'text/html' })],
  ['an error under 200', answersJson(200, { error: { code: 502, message: `Provider ${key}` } })],
  ['an error together with choices under 200', says({ error: { message: key } })],
  ['an error in the choice', says({}, { error: { code: 502 }, finish_reason: 'error' })],
  ['a body beyond any answer', says({}, message('x'.repeat(1024 * 1024)))],
  ['400', answersJson(400, { error: { message: `context length ${key}`, code: 'context_length_exceeded' } })],
  ['401', answersJson(401, { error: { message: `Incorrect API key provided: ${key}`, code: 'invalid_api_key' } })],
  ['402', answersJson(402, { error: { code: 402, message: 'Insufficient credits' } })],
  ['403', answersJson(403, { error: { message: key } })],
  ['404', answersJson(404, { error: { message: 'model "llama3.2" not found', type: 'api_error' } })],
  ['405', answersText(405, '')],
  ['429 without a time', answersJson(429, { error: { message: key } })],
  ['500', answersText(500, key)],
  ['503', answersJson(503, { error: { message: 'Loading model', type: 'unavailable_error' } })],
  ['a redirect', answersText(307, '', { location: 'http://127.0.0.1:1/' })],
  ['a connection that breaks', (_asked, response) => void response.destroy()],
  [
    'a body that breaks',
    (_asked, response) => void response.writeHead(200, { 'content-length': '99' }).write('{', () => response.destroy()),
  ],
]

describe('no answer', () => {
  test.each(noAnswers)(
    '%s: the next server is asked, and without one the caller keeps the proof',
    async (_what, script) => {
      first.script(script)
      const both = await say(openChat({ servers: [first, second] }))
      expect(both).toMatchObject({ kind: 'delivered', data: { reply: 'Hi!' } })
      expect(JSON.parse(second.asked[0]?.body ?? '')).toMatchObject({ model: 'other-model' })

      const alone = await say(openChat())
      expect(alone).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
      expect(JSON.stringify(alone)).toMatch(/same proof/)
      expect(JSON.stringify(alone)).not.toMatch(/sk-very|127\.0\.0\.1|ai-1|\b40[0-9]\b|429/)
      // No second try: a second answer would cost twice.
      expect(first.asked).toHaveLength(2)
    },
  )

  test('of a server that is not there', async () => {
    const outcome = await say(openChat({ baseUrl: 'http://127.0.0.1:2/v1' }))
    expect(outcome).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(logged).toContain('ECONNREFUSED')
  })

  test('of an address with a password in it, which appears in no log', async () => {
    await say(openChat({ baseUrl: first.url.replace('//', '//user:sk-very-hidden@') }))
    expect(logged).toContain('upstream_failed')
  })
})

describe('time', () => {
  const silent: Script = () => undefined
  const stalled: Script = (_asked, response) => void response.writeHead(200).write('{"choices":')

  test.each([
    ['is empty', silent],
    ['stops in the middle of the body', stalled],
  ])('a server that %s is given up, and the next one is asked', async (_what, script) => {
    first.script(script)
    expect(await say(openChat({ servers: [first, second], timeoutMs: 100 }))).toMatchObject({ kind: 'delivered' })
    expect(await say(openChat({ timeoutMs: 100 }))).toMatchObject({ kind: 'failed', code: 'UPSTREAM_TIMEOUT' })
  })

  test('at the end of the job no other server is asked', async () => {
    const late = new AbortController()
    first.script(() => late.abort())
    const outcome = await say(openChat({ servers: [first, second] }), 'Say hi', late.signal)
    expect(outcome).toMatchObject({ kind: 'failed', code: 'UPSTREAM_TIMEOUT' })
    expect(second.asked).toEqual([])
    // A server that was not asked is not counted as failing.
    expect(calls).toEqual(['ai-1 timeout'])
  })
})

describe('before a quote', () => {
  test('without a server nothing is sold', () => {
    expect(openChat({ servers: [] }).whyUnavailable()).toBe('AI chat is not set up on this server')
  })

  test('after five failures in a row a server is left alone for half a minute, and then tried again', async () => {
    const chat = openChat()
    first.script(answersText(500, ''))
    for (let failure = 1; failure <= 5; failure++) {
      expect(chat.whyUnavailable()).toBeUndefined()
      await say(chat)
    }
    expect(chat.whyUnavailable()).toBe('no language model can be asked at the moment')
    expect(await say(chat)).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(first.asked).toHaveLength(5)
    first.script(says())
    clock.advance(30_000)
    expect(chat.whyUnavailable()).toBeUndefined()
    expect(await say(chat)).toMatchObject({ kind: 'delivered' })
    expect(logged).toContain('upstream_recovered')
  })

  test.each([401, 402, 403, 404])(
    'after one HTTP %i it is skipped immediately: the next caller would fail too',
    async (status) => {
      first.script(answersText(status, ''))
      const chat = openChat({ servers: [first, second] })
      await say(chat)
      await say(chat)
      expect(first.asked).toHaveLength(1)
      expect(chat.whyUnavailable()).toBeUndefined()
      second.script(answersText(status, ''))
      await say(chat)
      expect(chat.whyUnavailable()).toBeDefined()
      expect(calls).toEqual(['ai-1 auth', 'ai-2 answered', 'ai-2 answered', 'ai-2 auth'])
    },
  )

  test('an answer that one message provokes does not close the product for other callers', async () => {
    first.script(says({}, { ...message(''), finish_reason: 'content_filter' }))
    const chat = openChat()
    for (let asked = 1; asked <= 12; asked++) await say(chat)
    expect(chat.whyUnavailable()).toBeUndefined()
  })
})

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
  return read.deliver({ signal, requestId: 'request_1' })
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
      messages: [{ role: 'developer', content: [{ type: 'text', text: 'be short' }] }, { role: 'user', content: 'hi' }],
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
    ['reasoning alone', answersEvents(...texts('<think>so', ' and so'), chunk({}, 'length'), '[DONE]')],
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

  test('that takes longer than the time of a stream is cut, and not broken: a long text is not free', async () => {
    first.script((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(texts('Hi')[0])}\n\n`)
    })
    const chat = openChat({ streamMsMax: 50 })
    const { events, broke } = await eventsOf(await deliver(chat, streamed))
    expect(broke).toBe(false)
    expect(events.at(-1)).toContain('"finishReason":"length"')
    expect(calls).toEqual(['ai-1 answered'])
  })

  test('has no reasoning in it, wherever the server cuts it', async () => {
    for (const contents of [['<th', 'ink>a', 'b</thi', 'nk>\n\nHi', ' <b>'], ['<think>ab</think>\n\nHi <b>']]) {
      first.script(answersEvents(...texts(...contents), chunk({}, 'stop'), '[DONE]'))
      const { events } = await eventsOf(await deliver(openChat(), streamed))
      const said = events.slice(0, -1).map((one) => z.object({ text: z.string() }).parse(JSON.parse(one.slice(6))).text)
      expect(said.join('')).toBe('Hi <b>')
    }
    first.script(answersEvents(...texts('so', '</think>Hi'), chunk({}, 'stop'), '[DONE]'))
    expect((await eventsOf(await deliver(openChat({ opensReasoning: true }), streamed))).events[0]).toBe('data: {"text":"Hi"}')
  })
})

describe('a whole completion', () => {
  test('is the body of OpenAI, without an envelope', async () => {
    const order = { model: 'llama3.2', messages: [{ role: 'user', content: 'hi' }] }
    const outcome = await deliver(openCompletions(), order)
    assert(outcome.kind === 'stream', 'it is sent as it is')
    expect(outcome.contentType).toBe('application/json; charset=utf-8')
    const { events } = await eventsOf(outcome)
    const sent: unknown = JSON.parse(events.join(''))
    expect(chatCompletions.answer.safeParse(sent).error?.issues ?? []).toEqual([])
    expect(sent).toMatchObject({ choices: [{ message: { content: 'Hi!' } }], usage: { total_tokens: 30 } })
  })
})
