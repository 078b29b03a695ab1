import { z } from 'zod'
import {
  anyModel,
  conversation,
  conversationRule,
  messageText,
  modelName,
  type ModelRules,
  temperature,
  tokenLimit,
  withinLimits,
} from './chatFields.ts'
import { type ChatFormat, openChatIn } from './chatFormat.ts'
import type { ChatTurn } from './server/chatRequest.ts'
import { defineProduct } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { objectWith, oneOf, yesOrNo } from '../../product/text.ts'

/* The chat product in this service's own format, `POST /api/ai/chat`. */

const message = z.strictObject(
  { role: oneOf(['system', 'user', 'assistant']), content: messageText },
  objectWith('role and content'),
)

const orderShape = (rules: ModelRules) =>
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
      json: yesOrNo.meta({ description: 'the reply is a JSON object' }).exactOptional(),
      stream: yesOrNo.meta({ description: 'the reply is sent while it is written' }).exactOptional(),
    })
    .refine((order) => (order.message === undefined) !== (order.messages === undefined), {
      path: ['message'],
      message: 'send exactly one of message and messages',
    })

type ChatOrder = z.infer<ReturnType<typeof orderShape>>

const parametersWith = (rules: ModelRules) =>
  withinLimits(orderShape(rules), rules, { turnOf, tokensField: () => 'maxTokens' }).meta({
    oneOf: [
      { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
      { type: 'object', properties: { messages: { type: 'array' } }, required: ['messages'] },
    ],
  })

function turnOf(order: ChatOrder): ChatTurn {
  const { message: asked, messages = [], system, model, temperature: heat, maxTokens, json, stream } = order
  return {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
      ...messages,
      ...(asked === undefined ? [] : [{ role: 'user' as const, content: asked }]),
    ],
    temperature: heat,
    tokensMax: maxTokens,
    isJson: json,
    isStreamed: stream,
  }
}

const tokens = z.int().min(0).nullable().meta({ description: 'null when the language model did not say' })

const answer = z.object({
  reply: z.string().min(1),
  model: z.string().meta({ description: 'the model, as its server names it' }),
  usage: z.object({ promptTokens: tokens, completionTokens: tokens, totalTokens: tokens }),
})

const format: ChatFormat<ChatOrder> = {
  parametersWith,
  turnOf,
  replyOf: ({ reply, model, usage, finishReason, stoppedBy }, { meta }) => ({
    kind: 'delivered',
    data: { reply, model, usage: { ...usage } },
    meta: { ...meta, finishReason, ...(stoppedBy === undefined ? {} : { stoppedBy }) },
  }),
  eventsOf: () => ({ begin: '', text: (text) => event({ text }), end: (end) => `event: end\n${event(end)}` }),
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

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
  open: openChatIn(format),
})

const printedMax = 100

function checkDemo({ reply, model }: z.infer<typeof answer>, { expect }: DemoCaller): string {
  expect(model !== '', 'the answer names its model')
  const line = reply.replaceAll(/\s+/g, ' ')
  return `${model}: "${line.length > printedMax ? `${line.slice(0, printedMax)}…` : line}"`
}
