import { z } from 'zod'
import type { ChatMessage, ChatReply, ChatRequest } from './server/chatRequest.ts'
import type { Job, Outcome } from '../../product/product.ts'
import {
  anyModel,
  conversation,
  conversationRule,
  fitsConversation,
  flag,
  messageText,
  modelName,
  type ModelRules,
  refuseTokens,
  temperature,
  tokenLimit,
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
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoBuyer } from '../../product/productFacts.ts'
import { objectWith, oneOf } from '../../product/text.ts'

const message = z.strictObject(
  { role: oneOf(['system', 'user', 'assistant']), content: messageText },
  objectWith('role and content'),
)

const parametersWith = (rules: ModelRules) =>
  z
    .strictObject({
      message: messageText.exactOptional(),
      messages: conversation(message)
        .meta({ description: `a conversation of 1 to 50 messages \`{role, content}\`, ${conversationRule}` })
        .exactOptional(),
      system: messageText.exactOptional(),
      model: modelName(rules).exactOptional(),
      temperature: temperature.exactOptional(),
      maxTokens: tokenLimit(rules).meta({ description: 'tokens of the reply' }).exactOptional(),
      json: flag('the reply is a JSON object').exactOptional(),
      stream: flag('the reply is sent while it is written').exactOptional(),
    })
    .refine((order) => (order.message === undefined) !== (order.messages === undefined), {
      path: ['message'],
      message: 'send exactly one of message and messages',
    })
    .refine((order) => fitsConversation(messagesOf(order)), {
      path: ['messages'],
      message: `must have ${conversationRule}`,
    })
    .superRefine(({ model, maxTokens }, context) => {
      const message = refuseTokens(rules, { model, tokensMax: maxTokens })
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['maxTokens'], message })
    })
    .meta({
      oneOf: [
        { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
        { type: 'object', properties: { messages: { type: 'array' } }, required: ['messages'] },
      ],
    })

type ChatOrder = z.infer<ReturnType<typeof parametersWith>>

const tokens = z.int().min(0).nullable().meta({ description: 'null when the language model did not say' })

const answer = z.object({
  reply: z.string().min(1),
  model: z.string().meta({ description: 'the model, as its server names it' }),
  usage: z.object({ promptTokens: tokens, completionTokens: tokens, totalTokens: tokens }),
})

const eventStream = 'text/event-stream; charset=utf-8'

export const aiChat = defineProduct({
  path: '/api/ai/chat',
  method: 'POST',
  summary: 'An answer of a language model to a message or a conversation',
  priceMicroUsd: 50_000n,
  parameters: parametersWith(anyModel),
  answer,
  streamOnDemand: { contentType: 'text/event-stream' },
  example: {
    order: { message: 'Hello!' },
    answer: { reply: 'Hi!', model: 'llama3.2', usage: { promptTokens: 27, completionTokens: 3, totalTokens: 30 } },
  },
  providers: ['AI'],
  demo: { order: () => ({ message: 'In one sentence: what is a ledger?' }), check: checkDemo },
  open: openAiChat,
})

function openAiChat(deps: ChatDeps): ProductHandler<ChatOrder> {
  const chat = openChat(deps)
  return {
    ...supplyOf(chat),
    parameters: parametersWith(rulesOf(deps)),
    variant: ({ model }) => variantOf(chat, model),
    formerVariant: ({ model }) => model,
    whyUnavailable: (order) => whyChatUnavailable(chat, order?.model),
    covers: ({ model, maxTokens }) => coverageOf(chat, model, maxTokens),
    deliver: (order, job) => (order.stream === true ? deliverStream : deliverWhole)(chat, requestOf(chat, order), job),
  }
}

interface Conversation {
  readonly system?: string
  readonly message?: string
  readonly messages?: readonly ChatMessage[]
}

function messagesOf({ system, message: said, messages = [] }: Conversation): readonly ChatMessage[] {
  return [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    ...messages,
    ...(said === undefined ? [] : [{ role: 'user' as const, content: said }]),
  ]
}

function requestOf(chat: Chat, order: ChatOrder): ChatRequest {
  const { model, temperature: heat, maxTokens, json } = order
  const tokensMax = maxTokens ?? rulesOf(chat).outputTokensMax(model)
  return { model, messages: messagesOf(order), temperature: heat, tokensMax, isJson: json }
}

async function deliverWhole(chat: Chat, request: ChatRequest, job: Job): Promise<Outcome> {
  const answered = await askWhole(chat, request, job)
  if (answered.kind === 'failed') return answered
  const { reply, model, usage, finishReason }: ChatReply = answered.answer
  return {
    kind: 'delivered',
    data: { reply, model, usage: { ...usage } },
    meta: { ...metaOf(chat, answered.source), finishReason },
  }
}

async function deliverStream(chat: Chat, request: ChatRequest, job: Job): Promise<Outcome> {
  const answered = await askStreamed(chat, request, job)
  if (answered.kind === 'failed') return answered
  const { answer: parts, source } = answered
  return {
    kind: 'stream',
    contentType: eventStream,
    chunks: eventsOf(chat, parts),
    meta: metaOf(chat, source),
  }
}

async function* eventsOf(chat: Chat, parts: ReplyParts): AsyncGenerator<Uint8Array> {
  try {
    const texts = textsOf(chat, parts)
    let step = await texts.next()
    for (; step.done !== true; step = await texts.next()) yield event({ text: step.value })
    yield Buffer.concat([Buffer.from('event: end\n'), event(step.value)])
  } finally {
    parts.stop()
  }
}

function event(data: unknown): Buffer {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
}

const printedMax = 100

function checkDemo({ reply, model }: z.infer<typeof answer>, { expect }: DemoBuyer): string {
  expect(model !== '', 'the answer names its model')
  const line = reply.replaceAll(/\s+/g, ' ')
  return `${model}: "${line.length > printedMax ? `${line.slice(0, printedMax)}…` : line}"`
}
