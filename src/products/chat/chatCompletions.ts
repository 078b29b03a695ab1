import { z } from 'zod'
import type { ChatEnd, ChatMessage, ChatReply, ChatRequest, ChatUsage } from './server/chatRequest.ts'
import type { Job, Outcome, Stream } from '../../product/product.ts'
import {
  anyModel,
  conversation,
  conversationRule,
  fitsConversation,
  flag,
  fraction,
  messageText,
  modelName,
  type ModelRules,
  refuseTokens,
  temperature,
  tokenLimit,
  wholeNumber,
} from './chatFields.ts'
import {
  askStreamed,
  askWhole,
  type Chat,
  type ChatDeps,
  coverageOf,
  metaOf,
  openChat,
  type ReplyParts,
  rulesOf,
  supplyOf,
  textsOf,
  variantOf,
  whyChatUnavailable,
} from './chatTurn.ts'
import { openAiError, withoutNeutral } from './openAiForm.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoBuyer } from '../../product/productFacts.ts'
import { objectWith, oneOf, text } from '../../product/text.ts'

/*
 * Chat in the wire format of OpenAI, for its client libraries. The body is theirs to the byte, so it has no place for our
 * envelope: it is sent as a stream in both forms, with the receipt in a trailer or as the last event.
 */

const part = z.strictObject({ type: oneOf(['text']), text: messageText })
const content = z.union([messageText, z.array(part).min(1).max(20).transform(textOfParts)], {
  error: 'must be a text of 1 to 8,000 characters, or a list of parts of type text',
})
const message = z.strictObject(
  { role: oneOf(['system', 'developer', 'user', 'assistant']), content },
  objectWith('role and content'),
)

function textOfParts(parts: readonly z.infer<typeof part>[]): string {
  return parts.map((one) => one.text).join('\n')
}

const stopExpected = 'must be a text of 1 to 100 characters, or a list of 1 to 4 of them'
const stopText = text({
  expected: 'a text of 1 to 100 characters',
  allowBreaks: true,
  shown: { minLength: 1, maxLength: 100 },
  test: (value) => value.length >= 1 && value.length <= 100,
})

const parametersWith = (rules: ModelRules) => {
  const tokensMost = tokenLimit(rules).exactOptional()
  return z
    .strictObject({
      // Clients always send it; without it the first model answers.
      model: modelName(rules).exactOptional(),
      messages: conversation(message).meta({ description: `1 to 50 messages, ${conversationRule}` }),
      temperature: temperature.exactOptional(),
      top_p: fraction({ min: 0, max: 1 }).exactOptional(),
      max_tokens: tokensMost,
      max_completion_tokens: tokensMost,
      stop: z
        .union([stopText, z.array(stopText).min(1, stopExpected).max(4, stopExpected)], { error: stopExpected })
        .meta({ description: 'a text, or up to 4, that end the reply' })
        .exactOptional(),
      seed: wholeNumber({ min: 0, max: 2 ** 31 - 1 }).exactOptional(),
      response_format: z.strictObject({ type: oneOf(['text', 'json_object']) }, objectWith('type')).exactOptional(),
      n: wholeNumber({ min: 1, max: 1 }).meta({ description: 'a request buys one reply' }).exactOptional(),
      stream: flag('the reply is sent while it is written').exactOptional(),
      stream_options: z
        .strictObject(
          { include_usage: flag('the last chunk has the usage').exactOptional() },
          objectWith('include_usage'),
        )
        .exactOptional(),
    })
    .refine(({ messages }) => fitsConversation(messages.map(plainMessage)), {
      path: ['messages'],
      message: `must have ${conversationRule}`,
    })
    .superRefine((order, context) => {
      const message = refuseTokens(rules, { model: order.model, tokensMax: tokensMaxOf(order) })
      const field = order.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens'
      if (message !== undefined) context.addIssue({ code: 'custom', path: [field], message })
    })
}

type Order = z.infer<ReturnType<typeof parametersWith>>

const count = z.int().min(0)
const answer = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int().meta({ description: 'seconds since 1970' }),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({ role: z.literal('assistant'), content: z.string() }),
      finish_reason: z.string(),
    }),
  ),
  usage: z
    .object({ prompt_tokens: count, completion_tokens: count, total_tokens: count })
    .optional()
    .meta({ description: 'absent when the server of the model does not report it' }),
})

const wholeType = 'application/json; charset=utf-8'
const streamType = 'text/event-stream; charset=utf-8'

export const chatCompletions = defineProduct({
  path: '/v1/chat/completions',
  method: 'POST',
  summary: 'An answer of a language model, in the wire format of OpenAI',
  priceMicroUsd: 50_000n,
  parameters: parametersWith(anyModel),
  answer,
  stream: { contentType: 'application/json' },
  streamOnDemand: { contentType: 'text/event-stream' },
  example: {
    order: { messages: [{ role: 'user', content: 'Hello!' }] },
    answer: {
      id: 'chatcmpl-request_1',
      object: 'chat.completion',
      created: 1_795_178_961,
      model: 'llama3.2',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 27, completion_tokens: 3, total_tokens: 30 },
    },
  },
  providers: ['AI'],
  errorForm: openAiError,
  withoutNeutral,
  demo: { order: () => ({ messages: [{ role: 'user', content: 'Hello!' }] }), check: checkDemo },
  open: openChatCompletions,
})

function openChatCompletions(deps: ChatDeps): ProductHandler<Order> {
  const chat = openChat(deps)
  return {
    ...supplyOf(chat),
    parameters: parametersWith(rulesOf(deps)),
    variant: ({ model }) => variantOf(chat, model),
    formerVariant: ({ model }) => model,
    whyUnavailable: (order) => whyChatUnavailable(chat, order?.model),
    covers: (order) => coverageOf(chat, order.model, tokensMaxOf(order)),
    deliver: (order, job) => (order.stream === true ? deliverChunks : deliverCompletion)(chat, order, job),
  }
}

function tokensMaxOf(order: Pick<Order, 'max_tokens' | 'max_completion_tokens'>): number | undefined {
  return order.max_completion_tokens ?? order.max_tokens
}

/** Most servers do not know the role `developer`, which OpenAI gave to system prompts. */
function plainMessage({ role, content: said }: z.infer<typeof message>): ChatMessage {
  return { role: role === 'developer' ? 'system' : role, content: said }
}

function requestOf(chat: Chat, order: Order): ChatRequest {
  const { model, messages, temperature: heat, top_p: topP, stop, seed } = order
  return {
    model,
    messages: messages.map(plainMessage),
    temperature: heat,
    topP,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed,
    tokensMax: tokensMaxOf(order) ?? rulesOf(chat).outputTokensMax(model),
    isJson: order.response_format?.type === 'json_object',
  }
}

async function deliverCompletion(chat: Chat, order: Order, job: Job): Promise<Outcome> {
  const answered = await askWhole(chat, requestOf(chat, order), job)
  if (answered.kind === 'failed') return answered
  const body = Buffer.from(JSON.stringify(completionOf(answered.answer, headOf(chat, job))))
  return streamOf(chat, { contentType: wholeType, source: answered.source, chunks: once(body) })
}

async function deliverChunks(chat: Chat, order: Order, job: Job): Promise<Outcome> {
  const answered = await askStreamed(chat, requestOf(chat, order), job)
  if (answered.kind === 'failed') return answered
  const { answer: parts, source } = answered
  const hasUsage = order.stream_options?.include_usage === true
  const chunks = chunksOf(chat, { parts, head: headOf(chat, job), hasUsage })
  return streamOf(chat, { contentType: streamType, source, chunks })
}

function streamOf(
  chat: Chat,
  { source, ...stream }: { readonly source: string } & Pick<Stream, 'contentType' | 'chunks'>,
): Stream {
  return { kind: 'stream', ...stream, meta: metaOf(chat, source) }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

interface Head {
  readonly id: string
  readonly created: number
}

function headOf({ clock }: Chat, { requestId }: Job): Head {
  return { id: `chatcmpl-${requestId}`, created: Math.floor(clock.nowMs() / 1000) }
}

function completionOf({ reply, model, finishReason, usage }: ChatReply, { id, created }: Head): z.infer<typeof answer> {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: reply }, finish_reason: reasonOf(finishReason) }],
    ...usageOf(usage),
  }
}

/** Clients know a closed list of reasons. */
function reasonOf(finishReason: string): string {
  return finishReason === 'unknown' ? 'stop' : finishReason
}

function usageOf({ promptTokens, completionTokens, totalTokens }: ChatUsage) {
  if (promptTokens === null || completionTokens === null || totalTokens === null) return {}
  return { usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens } }
}

interface Chunks {
  readonly parts: ReplyParts
  readonly head: Head
  readonly hasUsage: boolean
}

async function* chunksOf(chat: Chat, { parts, head, hasUsage }: Chunks): AsyncGenerator<Uint8Array> {
  const chunk = (choices: readonly object[], more: object = {}) =>
    event(JSON.stringify({ ...head, object: 'chat.completion.chunk', model: parts.model, choices, ...more }))
  const choice = (delta: object, reason: string | null = null) => [{ index: 0, delta, finish_reason: reason }]
  try {
    yield chunk(choice({ role: 'assistant', content: '' }))
    const texts = textsOf(chat, parts)
    let step = await texts.next()
    for (; step.done !== true; step = await texts.next()) yield chunk(choice({ content: step.value }))
    const { finishReason, usage }: ChatEnd = step.value
    yield chunk(choice({}, reasonOf(finishReason)))
    if (hasUsage) yield chunk([], usageOf(usage))
    yield event('[DONE]')
  } finally {
    parts.stop()
  }
}

function event(data: string): Uint8Array {
  return Buffer.from(`data: ${data}\n\n`)
}

function checkDemo({ model, choices }: z.infer<typeof answer>, { expect }: DemoBuyer): string {
  const [choice] = choices
  expect(choice !== undefined && choice.message.content !== '', 'the completion has a text')
  return `${model}: finished by ${choice?.finish_reason ?? 'nothing'}`
}
