import { z } from 'zod'
import { parseJson } from '@tollbook/core/json'
import { json, plain, type SampleProvider, type SampleReply, type SampleRequest } from './sampleProvider.ts'

export const sampleModels = ['sample-model', 'sample-model-large'] as const

/** The server has no language model: it echoes the message and states that the reply is a sample. */
export const chatServer: SampleProvider = (request) => {
  const { path } = request
  if (path === '/v1/models') return json({ object: 'list', data: sampleModels.map((id) => ({ id, object: 'model' })) })
  return path === '/v1/chat/completions' ? complete(request) : json({ error: { message: 'Not found' } }, 404)
}

const order = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  max_tokens: z.int().min(1),
  response_format: z.object({ type: z.literal('json_object') }).optional(),
  stream: z.boolean().optional(),
})
type Order = z.infer<typeof order>

function complete({ body, nowMs }: SampleRequest): SampleReply {
  const { data } = order.safeParse(parseJson(body))
  if (data === undefined) return json({ error: { message: 'Invalid request body' } }, 400)
  const { messages, max_tokens: tokensMax } = data
  const sentence = replyTo(messages.findLast(({ role }) => role === 'user')?.content ?? '')
  const reply = data.response_format === undefined ? sentence : JSON.stringify({ reply: sentence })
  const isCut = tokenCount(reply) > tokensMax
  const said = isCut ? charactersOf(reply, tokensMax * charactersPerToken) : reply
  const promptTokens = tokenCount(messages.map(({ content }) => content).join('\n'))
  const completionTokens = tokenCount(said)
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  const built = { said, finishReason: isCut ? 'length' : 'stop', usage, nowMs }
  return data.stream === true ? chunksOf(data, built) : completionOf(data, built)
}

interface Built {
  readonly said: string
  readonly finishReason: string
  readonly usage: object
  readonly nowMs: number
}

function headOf({ model }: Order, nowMs: number) {
  return { id: `chatcmpl-sample-${nowMs}`, created: Math.floor(nowMs / 1000), model }
}

function completionOf(asked: Order, { said, finishReason, usage, nowMs }: Built): SampleReply {
  const message = { role: 'assistant', content: said }
  const choices = [{ index: 0, message, finish_reason: finishReason }]
  return json({ object: 'chat.completion', ...headOf(asked, nowMs), choices, usage })
}

/** Sends one event per word, as real servers send one token at a time, and the usage at the end. */
function chunksOf(asked: Order, { said, finishReason, usage, nowMs }: Built): SampleReply {
  const head = { object: 'chat.completion.chunk', ...headOf(asked, nowMs) }
  const choice = (delta: object, reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  const chunks = [
    choice({ role: 'assistant', content: '' }),
    ...(said.match(/\s*\S+|\s+$/g) ?? []).map((word) => choice({ content: word })),
    choice({}, finishReason),
    { ...head, choices: [], usage },
  ]
  const body = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
  return plain(body, 200, 'text/event-stream')
}

const charactersPerToken = 4
const echoedMax = 200

function replyTo(message: string): string {
  return `Sample reply: no language model is behind this server. You wrote: ${charactersOf(message, echoedMax)}`
}

/** Counts code points, so that no surrogate pair is split. */
function charactersOf(text: string, count: number): string {
  return Array.from(text).slice(0, count).join('')
}

function tokenCount(text: string): number {
  return Math.ceil(Array.from(text).length / charactersPerToken)
}
