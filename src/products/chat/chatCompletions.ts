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
import { type ChatFormat, openChatIn, type ReplyEvents, type ReplyHead } from './chatFormat.ts'
import { openAiError, withoutNeutral } from './openAiForm.ts'
import type { ChatReply, ChatTurn, ChatUsage } from './server/chatRequest.ts'
import type { Raw } from '../../product/product.ts'
import { defineProduct } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { bounded, boundedInteger, objectWith, oneOf, text, yesOrNo } from '../../product/text.ts'

/*
 * The chat product in OpenAI's wire format, for OpenAI's client libraries. The receipt is sent in a header or as the
 * last event of a stream, because the body cannot contain our envelope.
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

const orderShape = (rules: ModelRules) => {
  const tokensMost = tokenLimit(rules).exactOptional()
  return z.strictObject({
    // `model` may be absent, because a server's default model then answers.
    model: modelName(rules).exactOptional(),
    messages: conversation(message).meta({ description: `1 to 50 messages, ${conversationRule}` }),
    temperature: temperature.exactOptional(),
    top_p: bounded(0, 1).exactOptional(),
    max_tokens: tokensMost,
    max_completion_tokens: tokensMost,
    stop: z
      .union([stopText, z.array(stopText).min(1, stopExpected).max(4, stopExpected)], { error: stopExpected })
      .meta({ description: 'a text, or up to 4, that end the reply' })
      .exactOptional(),
    seed: boundedInteger(0, 2 ** 31 - 1).exactOptional(),
    response_format: z.strictObject({ type: oneOf(['text', 'json_object']) }, objectWith('type')).exactOptional(),
    n: boundedInteger(1, 1).meta({ description: 'a request buys one reply' }).exactOptional(),
    stream: yesOrNo.meta({ description: 'the reply is sent while it is written' }).exactOptional(),
    stream_options: z
      .strictObject(
        { include_usage: yesOrNo.meta({ description: 'the last chunk has the usage' }).exactOptional() },
        objectWith('include_usage'),
      )
      .exactOptional(),
  })
}

type Order = z.infer<ReturnType<typeof orderShape>>

const parametersWith = (rules: ModelRules) =>
  withinLimits(orderShape(rules), rules, {
    turnOf,
    tokensField: (order) => (order.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens'),
  })

function turnOf(order: Order): ChatTurn {
  const { model, messages, temperature: heat, top_p: topP, stop, seed, stream } = order
  return {
    model,
    // Rename the role `developer`, OpenAI's name for system prompts, because most servers support only `system`.
    messages: messages.map((one) => ({ ...one, role: one.role === 'developer' ? 'system' : one.role })),
    temperature: heat,
    topP,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed,
    tokensMax: order.max_completion_tokens ?? order.max_tokens,
    isJson: order.response_format?.type === 'json_object',
    isStreamed: stream,
  }
}

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

const format: ChatFormat<Order> = { parametersWith, turnOf, replyOf, eventsOf }

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
  open: openChatIn(format),
})

function headOf({ requestId, nowMs }: ReplyHead) {
  return { id: `chatcmpl-${requestId}`, created: Math.floor(nowMs / 1000) }
}

function replyOf({ reply, model, finishReason, usage, stoppedBy }: ChatReply, head: ReplyHead): Raw {
  const completion: z.infer<typeof answer> = {
    ...headOf(head),
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: reply }, finish_reason: reasonOf(finishReason) }],
    ...usageMembers(usage),
  }
  const said = stoppedBy === undefined ? completion : { ...completion, stoppedBy }
  const bytes = Buffer.from(JSON.stringify(said))
  return { kind: 'raw', contentType: 'application/json; charset=utf-8', bytes, meta: head.meta }
}

/** Returns a finish reason that OpenAI's clients accept, because their list does not contain `unknown`. */
function reasonOf(finishReason: string): string {
  return finishReason === 'unknown' ? 'stop' : finishReason
}

function usageMembers({ promptTokens, completionTokens, totalTokens }: ChatUsage) {
  if (promptTokens === null || completionTokens === null || totalTokens === null) return {}
  return { usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens } }
}

function eventsOf(order: Order, { model, ...head }: ReplyHead & { readonly model: string }): ReplyEvents {
  const chunk = (choices: readonly object[], more: object = {}) =>
    event(JSON.stringify({ ...headOf(head), object: 'chat.completion.chunk', model, choices, ...more }))
  const choice = (delta: object, reason: string | null = null, more: object = {}) =>
    chunk([{ index: 0, delta, finish_reason: reason }], more)
  const hasUsage = order.stream_options?.include_usage === true
  return {
    begin: choice({ role: 'assistant', content: '' }),
    text: (content) => choice({ content }),
    end: ({ finishReason, usage, stoppedBy }) =>
      [
        choice({}, reasonOf(finishReason), stoppedBy === undefined ? {} : { stoppedBy }),
        ...(hasUsage ? [chunk([], usageMembers(usage))] : []),
        event('[DONE]'),
      ].join(''),
  }
}

function event(data: string): string {
  return `data: ${data}\n\n`
}

function checkDemo({ model, choices }: z.infer<typeof answer>, { expect }: DemoCaller): string {
  const [choice] = choices
  expect(choice !== undefined && choice.message.content !== '', 'the completion has a text')
  return `${model}: finished by ${choice?.finish_reason ?? 'nothing'}`
}
