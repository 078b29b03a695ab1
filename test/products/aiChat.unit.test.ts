import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { tokensPerMessage } from '../../src/pricing/tokenCount.ts'
import { silentLog } from '../../src/machine/log.ts'
import { chatUsage } from '../../src/products/chat/chatUsage.ts'
import { createChatServer } from '../../src/products/chat/server/chatServer.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import type { Outcome } from '../../src/product/product.ts'
import { assert } from '@tollbook/core/assert'
import {
  clock,
  completion,
  first,
  key,
  message,
  openChat,
  openChatServers,
  resetChat,
  says,
  second,
  seen,
} from '../support/chatFixture.ts'
import { answersJson, answersText, type Script } from '../support/loopbackServer.ts'

async function say(endpoint: Endpoint, message = 'Say hi', signal = new AbortController().signal): Promise<Outcome> {
  return sayAs(endpoint, { message }, signal)
}

async function sayAs(endpoint: Endpoint, order: object, signal = new AbortController().signal): Promise<Outcome> {
  const read = endpoint.read(order)
  assert(read.ok, 'the message is legal')
  return read.deliver({ signal, requestId: 'request_1', payer: 'wallet', payment: 'payment' })
}

await openChatServers()
beforeEach(resetChat)
afterEach(() => {
  vi.useRealTimers()
  expect(seen.logged).not.toContain('sk-very')
})

test.each([
  ['http://ollama:11434/v1', 'self-hosted'],
  ['http://gpu.internal/v1', 'self-hosted'],
  ['https://api.openai.com/v1', 'api.openai.com'],
])('the source of a reply names public hosts only: %s', (baseUrl, name) => {
  const deps = { clock, log: silentLog, version: '0', contact: 'x', onCall: () => undefined }
  const options = { label: 'ai-1', baseUrl, models: ['m'] as const, apiKey: undefined, timeoutMs: 1, silentMsMax: 1 }
  expect(createChatServer(deps, options).name).toBe(name)
})

test('a server that reports more than is possible is believed up to the bytes of the messages and the limit of the reply', () => {
  const order = { messages: [{ role: 'user' as const, content: 'hello' }], tokensMax: 64, reply: 'Hi' }
  const used = (promptTokens: number, completionTokens: number) =>
    chatUsage({ ...order, reported: { promptTokens, completionTokens, totalTokens: null } })
  expect(used(1e9, 1e9)).toEqual({ input: 5 + 4 * tokensPerMessage, output: 64, isEstimated: false })
  expect(used(7, 2)).toEqual({ input: 7, output: 2, isEstimated: false })
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
    clock.hold(true)
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
    expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'user-agent': 'Tollbook/0.2.0 (+ops@example.com)' })
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
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'The user greets.' }] }

  test.each([
    ['a field', message('Hi!', { reasoning_content: 'The user greets.', reasoning: 'The user greets.' })],
    ['a part', message([thinking, { type: 'text', text: 'Hi' }, { type: 'text', text: '!' }])],
  ])('that its server puts into %s is not part of the reply', async (_where, marked) => {
    first.script(says({}, marked))
    expect(await say(openChat())).toMatchObject({ kind: 'delivered', data: { reply: 'Hi!' } })
  })

  test.each([
    ['a field', message('', { reasoning_content: 'It was cut' })],
    ['a part', message([thinking])],
  ])('alone, in %s, is not sold as a reply', async (_where, marked) => {
    first.script(says({}, { ...marked, finish_reason: 'length' }))
    expect(await say(openChat())).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test.each([['<think>\nThe user greets.\n</think>\n\nHi!'], ['The tag is `</think>`, after `<think>`.']])(
    'that its server does not mark is text like any other: %j',
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
    [
      'of a model with half of a surrogate pair in its name',
      says({ model: 'a\ud800' }),
      { data: { model: 'llama3.2' } },
    ],
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
  ['content of another type', says({}, message({ text: 'Hi!' }))],
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
    expect(seen.logged).toContain('ECONNREFUSED')
  })

  test('of an address with a password in it, which appears in no log', async () => {
    await say(openChat({ baseUrl: first.url.replace('//', '//user:sk-very-hidden@') }))
    expect(seen.logged).toContain('upstream_failed')
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
    // Also the time of the second server, which has to answer within it on a slow machine.
    expect(await say(openChat({ servers: [first, second], timeoutMs: 1_000 }))).toMatchObject({ kind: 'delivered' })
    expect(await say(openChat({ timeoutMs: 100 }))).toMatchObject({ kind: 'failed', code: 'UPSTREAM_TIMEOUT' })
  })

  test('at the end of the job no other server is asked', async () => {
    const late = new AbortController()
    first.script(() => late.abort())
    const outcome = await say(openChat({ servers: [first, second] }), 'Say hi', late.signal)
    expect(outcome).toMatchObject({ kind: 'failed', code: 'UPSTREAM_TIMEOUT' })
    expect(second.asked).toEqual([])
    // A server that was not asked is not counted as failing.
    expect(seen.calls).toEqual(['ai-1 timeout'])
  })
})

describe('before a quote', () => {
  test('without a server nothing is sold', () => {
    expect(openChat({ servers: [] }).whyUnavailable()).toBe('AI chat is not set up on this server')
  })

  test('after five failures in a row a server is left alone for half a minute, and then tried again', async () => {
    const chat = openChat()
    first.script(answersText(500, ''))
    clock.hold(true)
    // A request that an earlier test gave up may arrive now.
    const asked = () => first.asked.filter(({ body }) => body.includes('Five failures'))
    for (let failure = 1; failure <= 5; failure++) {
      expect(chat.whyUnavailable()).toBeUndefined()
      await say(chat, 'Five failures')
    }
    expect(chat.whyUnavailable()).toBe('no language model can be asked at the moment')
    expect(await say(chat, 'Five failures')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(asked()).toHaveLength(5)
    first.script(says())
    clock.advance(30_000)
    expect(chat.whyUnavailable()).toBeUndefined()
    expect(await say(chat)).toMatchObject({ kind: 'delivered' })
    expect(seen.logged).toContain('upstream_recovered')
  })

  test.each([401, 402, 403, 404])(
    'after one HTTP %i it is skipped immediately: the next caller would fail too',
    async (status) => {
      first.script(answersText(status, ''))
      const chat = openChat({ servers: [first, second] })
      clock.hold(true)
      await say(chat)
      await say(chat)
      expect(first.asked).toHaveLength(1)
      expect(chat.whyUnavailable()).toBeUndefined()
      second.script(answersText(status, ''))
      await say(chat)
      expect(chat.whyUnavailable()).toBeDefined()
      expect(seen.calls).toEqual(['ai-1 auth', 'ai-2 answered', 'ai-2 answered', 'ai-2 auth'])
    },
  )

  test('an answer that one message provokes does not close the product for other callers', async () => {
    first.script(says({}, { ...message(''), finish_reason: 'content_filter' }))
    const chat = openChat()
    for (let asked = 1; asked <= 12; asked++) await say(chat)
    expect(chat.whyUnavailable()).toBeUndefined()
  })

  test('a flagged message, and a further model that the server lacks, do not close it to other callers', async () => {
    const chat = openChat()
    const metadata = { reasons: ['harassment'], flagged_input: 'Say…', provider_name: 'x', model_slug: 'y' }
    first.script(answersJson(403, { error: { code: 403, message: 'Your input was flagged', metadata } }))
    expect(await say(chat)).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(chat.whyUnavailable()).toBeUndefined()
    first.script(answersJson(404, { error: { message: 'model "larger" not found' } }))
    expect(await sayAs(chat, { message: 'Say hi', model: 'larger' })).toMatchObject({ kind: 'failed' })
    expect(chat.whyUnavailable()).toBeUndefined()
    // Without its default model, the server is of no use.
    await sayAs(chat, { message: 'Say hi', model: 'llama3.2' })
    expect(chat.whyUnavailable()).toBeDefined()
  })
})
