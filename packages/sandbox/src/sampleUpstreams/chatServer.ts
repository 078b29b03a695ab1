import { z } from 'zod'
import { json, type SampleProvider, type SampleReply, type SampleRequest } from './sampleProvider.ts'

export const sampleModel = 'sample-model'

/** `POST /v1/chat/completions` of a server that is compatible with OpenAI's. There is no model: it says so, and echoes. */
export const chatServer: SampleProvider = (request) => {
  const { path, method } = request
  if (path === '/v1/models' && method === 'GET')
    return json({ object: 'list', data: [{ id: sampleModel, object: 'model', created: 0, owned_by: 'tollbook' }] })
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
  stream: z.literal(false).optional(),
})

function complete({ body, nowMs }: SampleRequest): SampleReply {
  const { data } = order.safeParse(parseJson(body))
  if (data === undefined) return problem(400, { message: 'Invalid request body', code: 'invalid_value' })
  if (data.model !== sampleModel)
    return problem(404, { message: `The model '${data.model}' does not exist`, code: 'model_not_found' })
  const texts = data.messages.map((message) => textOf(message.content))
  const asked = data.messages.findLastIndex(({ role }) => role === 'user')
  const reply = replyTo(texts[asked] ?? '')
  const tokensMax = data.max_completion_tokens ?? data.max_tokens ?? tokensMaxDefault
  const isCut = tokenCount(reply) > tokensMax
  const said = isCut
    ? Array.from(reply)
        .slice(0, tokensMax * charactersPerToken)
        .join('')
    : reply
  const [promptTokens, completionTokens] = [tokenCount(texts.join('\n')), tokenCount(said)]
  return json({
    id: `chatcmpl-sample-${nowMs}`,
    object: 'chat.completion',
    created: Math.floor(nowMs / 1000),
    model: sampleModel,
    system_fingerprint: 'fp_sample',
    choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: isCut ? 'length' : 'stop' }],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  })
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // No JSON: the schema says so.
    return undefined
  }
}
