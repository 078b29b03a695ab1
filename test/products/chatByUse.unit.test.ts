import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { chatUsage } from '../../src/products/chat/chatUsage.ts'
import { eventData } from '../../src/products/chat/server/eventStream.ts'
import type { Usage } from '../../src/pricing/meteredPrice.ts'
import { first, message, openChat, openChatServers, openCompletions, resetChat, says } from '../support/chatFixture.ts'
import { answersText } from '../support/loopbackServer.ts'

await openChatServers()
beforeEach(resetChat)

const price = { inputPerMillionMicroUsd: 1_000_000n, outputPerMillionMicroUsd: 2_000_000n, minimumMicroUsd: 1n }
const job = { signal: new AbortController().signal, requestId: 'r', payer: 'wallet', payment: 'payment' }
const sentTokens = () => z.object({ max_tokens: z.int() }).parse(JSON.parse(first.asked.at(-1)?.body ?? '')).max_tokens

async function allOf<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}

function orderOf(order: object) {
  const ordered = openChat().read(order)
  assert(ordered.ok, 'the order is valid')
  return ordered
}

describe('an order that is priced by use', () => {
  // The message has 6 tokens of input: 8 bytes, and 4 marks.
  const deliver = (budgetMicroUsd: bigint, more: object = {}) =>
    orderOf({ message: '12345678', ...more }).deliver({ ...job, metered: { price, budgetMicroUsd } })

  test.each([
    [26n, 10, { stoppedBy: 'limit' }],
    [517n, 255, { stoppedBy: 'limit' }],
    [518n, 256, {}],
    [10_000n, 256, {}],
    // Nothing is left for output: one token is requested, and the charge is capped.
    [6n, 1, { stoppedBy: 'limit' }],
  ])(
    'with a budget of %d requests %i tokens, and says whether the budget ended the reply',
    async (budget, tokens, stop) => {
      first.script(says({}, { finish_reason: 'length' }))
      const outcome = await deliver(budget)
      assert(outcome.kind === 'delivered', 'it is delivered')
      const { finishReason, stoppedBy } = outcome.meta
      expect({ finishReason, ...(stoppedBy === undefined ? {} : { stoppedBy }) }).toEqual({
        finishReason: 'length',
        ...stop,
      })
      expect(sentTokens()).toBe(tokens)
      first.script(says())
      expect(await deliver(budget)).not.toHaveProperty('meta.stoppedBy')
    },
  )

  test('requests no more tokens than the order asks for, and counts at most 16 characters for each', async () => {
    first.script(says({ usage: null }, message('x'.repeat(1_000))))
    const outcome = await deliver(10_000n, { maxTokens: 3 })
    expect(outcome).toMatchObject({
      data: { reply: 'x'.repeat(48) },
      usage: { input: 6, output: 3, isEstimated: true },
    })
    expect(sentTokens()).toBe(3)
  })

  test('counts its input before it is sold', () => {
    const conversation = [
      { role: 'user', content: '1234' },
      { role: 'assistant', content: '12345' },
    ]
    expect(orderOf({ message: '12345678' }).inputUnits).toBe(6)
    expect(orderOf({ messages: conversation, system: 'ü' }).inputUnits).toBe(5 + 6 + 5)
  })
})

test('a stream that breaks off is counted by the texts that were sent, and a whole one by its report', async () => {
  const usages: Usage[] = []
  const chunk = (content: string, more: object = {}) =>
    `data: ${JSON.stringify({ choices: [{ delta: { content } }], ...more })}\n\n`
  const report = chunk('', { choices: null, usage: { prompt_tokens: 7, completion_tokens: 2 } })
  const end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  for (const body of [chunk('12345678') + chunk('1234'), chunk('Hi') + report + end]) {
    first.script(answersText(200, body, { 'content-type': 'text/event-stream' }))
    const outcome = await orderOf({ message: '12345678', stream: true }).deliver(job)
    assert(outcome.kind === 'stream', 'it is a stream')
    await allOf(outcome.chunks).catch(() => undefined)
    const usage = outcome.usageSoFar?.()
    assert(usage !== undefined, 'a chat reports its usage')
    usages.push(usage)
  }
  expect(usages).toEqual([
    { input: 6, output: 3, isEstimated: true },
    { input: 7, output: 2, isEstimated: false },
  ])
})

test('an estimate is at most the tokens that the reply may have', () => {
  const none = { promptTokens: null, completionTokens: 5, totalTokens: null }
  const estimated = chatUsage({ messages: [], tokensMax: 2, reply: 'x'.repeat(100), reported: none })
  expect(estimated).toEqual({ input: 0, output: 2, isEstimated: true })
})

test.each([
  ['one event', ['data: a\n\n'], ['a']],
  ['an event of two lines, cut anywhere', ['da', 'ta:  a\r\nda', 'ta:b\r\n\r', '\n'], [' a\nb']],
  ['lines that end in CR', ['data: a\rdata:b\r\rdata: c\r', '\n\r\n'], ['a\nb', 'c']],
  ['other fields and comments', [': hi\nevent: x\nid: 1\ndata: a\n\nretry: 1\n\n'], ['a']],
  ['a last event without its end', ['data: a\n\ndata: b'], ['a', 'b']],
  ['a last event of two lines without its end', ['data: a\ndata: b'], ['a\nb']],
  ['a character in two pieces', [Buffer.from('data: ü').subarray(0, 7), Buffer.from('ü').subarray(1), '\n\n'], ['ü']],
])('an event stream of %s is read', async (_what, pieces, events) => {
  const body = (async function* () {
    yield* pieces.map((piece) => Buffer.from(piece))
  })()
  expect(await allOf(eventData(body))).toEqual(events)
})

test.each(['', 'null'])('a chunk whose finish reason is the text %j does not end the reply', async (unfinished) => {
  const chunk = (content: string, reason: string) =>
    `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: reason }] })}\n\n`
  const body = `${chunk('Hi', unfinished)}${chunk('!', 'length')}data: [DONE]\n\n`
  first.script(answersText(200, body, { 'content-type': 'text/event-stream' }))
  const outcome = await orderOf({ message: 'a', stream: true }).deliver(job)
  assert(outcome.kind === 'stream', 'it is a stream')
  expect(Buffer.concat(await allOf(outcome.chunks)).toString()).toContain('"finishReason":"length"')
  first.script(says({}, { finish_reason: unfinished }))
  expect(await orderOf({ message: 'a' }).deliver(job)).toMatchObject({ meta: { finishReason: 'unknown' } })
})

test.each([
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['model_length', 'length'],
])('the finish reason %s of another server ends a reply as %s', async (reason, meant) => {
  first.script(says({}, { finish_reason: reason }))
  expect(await orderOf({ message: 'a' }).deliver(job)).toMatchObject({ meta: { finishReason: meant } })
})

test('an event is bounded, whether it has many lines or one', async () => {
  const bodyOf = (piece: string) =>
    (async function* () {
      for (let piecesMax = 20; piecesMax > 0; piecesMax--) yield Buffer.from(piece)
    })()
  for (const piece of ['x'.repeat(65_536), `data: ${'x'.repeat(65_536)}\n`])
    await expect(allOf(eventData(bodyOf(piece)))).rejects.toThrow('an event is longer than')
})

test('of the two names of the token limit the newer one counts, and one text that ends a reply is sent as a list', async () => {
  const ordered = openCompletions().read({
    messages: [{ role: 'developer', content: 'be short' }],
    max_tokens: 9,
    max_completion_tokens: 5,
    stop: 'END',
    seed: 1,
    top_p: 0.5,
  })
  assert(ordered.ok, 'the order is valid')
  await ordered.deliver(job)
  expect(JSON.parse(first.asked.at(-1)?.body ?? '')).toEqual({
    model: 'llama3.2',
    messages: [{ role: 'system', content: 'be short' }],
    max_tokens: 5,
    stop: ['END'],
    seed: 1,
    top_p: 0.5,
  })
})

test('a reply whose server reports no tokens at all is charged by an estimate', async () => {
  first.script(says({ usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }))
  expect(await orderOf({ message: '12345678' }).deliver(job)).toMatchObject({
    data: { usage: { promptTokens: null, completionTokens: null, totalTokens: null } },
    usage: { input: 6, output: 1, isEstimated: true },
  })
})

test('the total of tokens is the one that the server reports, or the sum', async () => {
  const totalOf = async (usage: object) => {
    first.script(says({ usage }))
    const outcome = await orderOf({ message: 'a' }).deliver(job)
    return z.object({ data: z.object({ usage: z.object({ totalTokens: z.int().nullable() }) }) }).parse(outcome).data
      .usage
  }
  const counts = { prompt_tokens: 5, completion_tokens: 2 }
  expect(await totalOf({ ...counts, total_tokens: 9 })).toEqual({ totalTokens: 9 })
  expect(await totalOf(counts)).toEqual({ totalTokens: 7 })
  expect(await totalOf({ completion_tokens: 2 })).toEqual({ totalTokens: null })
})

test.each([
  [{ parallel_tool_calls: true }, true],
  [{ parallel_tool_calls: 1 }, false],
  [{ presence_penalty: 0, frequency_penalty: 0, logit_bias: {}, top_logprobs: 0, tools: [], functions: [] }, true],
  [{ presence_penalty: 1 }, false],
  [{ logit_bias: { a: 1 } }, false],
  [{ tools: [{}] }, false],
  [{ tool_choice: 'auto', function_call: 'none', service_tier: 'default', modalities: ['text'] }, true],
  [{ tool_choice: 'required' }, false],
  [{ modalities: ['text', 'audio'] }, false],
  [{ store: true }, false],
  [{ user: 'me', metadata: { a: 'b' }, prompt_cache_key: 'x', stop: null }, true],
  [{ user: 1 }, false],
  [{ unknown: null }, true],
])('a parameter of OpenAI without effect is accepted, and others are refused: %j', (more, isAccepted) => {
  const messages = [{ role: 'assistant', content: 'a', tool_calls: [], annotations: [], name: null }]
  expect(openCompletions().read({ messages, ...more }).ok).toBe(isAccepted)
})
