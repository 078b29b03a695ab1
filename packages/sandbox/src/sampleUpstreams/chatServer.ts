import { z } from 'zod'
import { parseJson } from '@tollbook/core/json'
import { json, plain, type SampleProvider, type SampleReply, type SampleRequest } from './sampleProvider.ts'

export const sampleModels = ['sample-model', 'sample-model-large'] as const

/**
 * `POST /v1/chat/completions` of an OpenAI-compatible server. Without a model, it echoes the message and says that it
 * is a sample.
 */
export const chatServer: SampleProvider = (request) => {
  const { path, method } = request
  if (path === '/v1/models' && method === 'GET')
    return json({
      object: 'list',
      data: sampleModels.map((id) => ({ id, object: 'model', created: 0, owned_by: 'tollbook' })),
    })
  if (path !== '/v1/chat/completions') return problem(404, { message: 'Not found', code: 'not_found' })
  if (method !== 'POST') return problem(405, { message: 'Only POST is allowed', code: 'method_not_allowed' })
  return complete(request)
}

const content = z.union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))])
const order = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content })).min(1),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  response_format: z.object({ type: z.enum(['text', 'json_object']) }).optional(),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
})
type Order = z.infer<typeof order>

function complete({ body, nowMs }: SampleRequest): SampleReply {
  const { data } = order.safeParse(parseJson(body))
  if (data === undefined) return problem(400, { message: 'Invalid request body', code: 'invalid_value' })
  if (!sampleModels.some((model) => model === data.model))
    return problem(404, { message: `The model '${data.model}' does not exist`, code: 'model_not_found' })
  const texts = data.messages.map((message) => textOf(message.content))
  const asked = data.messages.findLastIndex(({ role }) => role === 'user')
  const sentence = replyTo(texts[asked] ?? '')
  const reply = data.response_format?.type === 'json_object' ? JSON.stringify({ reply: sentence }) : sentence
  const tokensMax = data.max_completion_tokens ?? data.max_tokens ?? tokensMaxDefault
  const isCut = tokenCount(reply) > tokensMax
  const said = isCut
    ? Array.from(reply)
        .slice(0, tokensMax * charactersPerToken)
        .join('')
    : reply
  const [promptTokens, completionTokens] = [tokenCount(texts.join('\n')), tokenCount(said)]
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  const finishReason = isCut ? 'length' : 'stop'
  const built = { said, finishReason, usage, nowMs }
  return data.stream === true ? chunksOf(data, built) : completionOf(data, built)
}

interface Built {
  readonly said: string
  readonly finishReason: string
  readonly usage: object
  readonly nowMs: number
}

function headOf({ model }: Order, nowMs: number) {
  return { id: `chatcmpl-sample-${nowMs}`, created: Math.floor(nowMs / 1000), model, system_fingerprint: 'fp_sample' }
}

function completionOf(asked: Order, { said, finishReason, usage, nowMs }: Built): SampleReply {
  const message = { role: 'assistant', content: said }
  const choices = [{ index: 0, message, finish_reason: finishReason }]
  return json({ object: 'chat.completion', ...headOf(asked, nowMs), choices, usage })
}

/** Sends one event per word, as servers send one token at a time. */
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
    ...(asked.stream_options?.include_usage === true ? [{ ...head, choices: [], usage }] : []),
  ]
  const body = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
  return plain(body, 200, 'text/event-stream')
}

const tokensMaxDefault = 1_024
const charactersPerToken = 4
const echoedMax = 200

function replyTo(message: string): string {
  const echoed = Array.from(message).slice(0, echoedMax).join('')
  return `Sample reply: no language model is behind this server. You wrote: ${echoed}`
}

function tokenCount(text: string): number {
  return Math.ceil(Array.from(text).length / charactersPerToken)
}

function textOf(value: z.infer<typeof content>): string {
  return typeof value === 'string' ? value : value.map(({ text }) => text).join('')
}

function problem(status: number, { message, code }: { readonly message: string; readonly code: string }): SampleReply {
  return json({ error: { message, type: 'invalid_request_error', param: null, code } }, status)
}
