import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { ModelRules } from './chatFields.ts'
import {
  askStreamed,
  askWhole,
  type Chat,
  type ChatDeps,
  coverageOf,
  openChat,
  type ReplyParts,
  rulesOf,
  supplyOf,
  textsOf,
  variantOf,
  whyChatUnavailable,
} from './chatTurn.ts'
import type { ChatEnd, ChatReply, ChatTurn } from './server/chatRequest.ts'
import type { Job, Meta, Outcome } from '../../product/product.ts'
import type { ProductHandler } from '../../product/productDefinition.ts'

/* A chat is sold in several wire formats. A format reads orders and writes replies. All other parts are shared. */

export interface ChatFormat<Order> {
  readonly parametersWith: (rules: ModelRules) => z.ZodType<Order>
  readonly turnOf: (order: Order) => ChatTurn
  readonly replyOf: (reply: ChatReply, head: ReplyHead) => Outcome
  readonly eventsOf: (order: Order, head: ReplyHead & { readonly model: string }) => ReplyEvents
}

/** Facts about a reply in addition to its text. */
export interface ReplyHead {
  readonly requestId: string
  readonly nowMs: number
  readonly meta: Meta
}

/** The events of a streamed reply. */
export interface ReplyEvents {
  readonly begin: string
  readonly text: (text: string) => string
  readonly end: (end: ChatEnd) => string
}

/** Opens the chat in a given wire format. */
export function openChatIn<Order extends Json>(format: ChatFormat<Order>) {
  return (deps: ChatDeps): ProductHandler<Order> => {
    const chat = openChat(deps)
    const modelOf = (order: Order) => format.turnOf(order).model
    return {
      ...supplyOf(chat),
      parameters: format.parametersWith(rulesOf(deps)),
      variant: (order) => variantOf(chat, modelOf(order)),
      formerVariant: modelOf,
      whyUnavailable: (order) => whyChatUnavailable(chat, order === undefined ? undefined : modelOf(order)),
      covers: (order) => coverageOf(chat, format.turnOf(order)),
      deliver: (order, job) => deliver({ chat, format }, order, job),
    }
  }
}

interface ChatIn<Order> {
  readonly chat: Chat
  readonly format: ChatFormat<Order>
}

async function deliver<Order>({ chat, format }: ChatIn<Order>, order: Order, job: Job): Promise<Outcome> {
  const turn = format.turnOf(order)
  const request = { ...turn, tokensMax: turn.tokensMax ?? rulesOf(chat).outputTokensMax(turn.model) }
  const headOf = (source: string): ReplyHead => {
    const nowMs = chat.clock.nowMs()
    return { requestId: job.requestId, nowMs, meta: { source, asOf: isoTime(nowMs), cached: false } }
  }
  if (turn.isStreamed !== true) {
    const answered = await askWhole(chat, request, job)
    return answered.kind === 'failed' ? answered : format.replyOf(answered.answer, headOf(answered.source))
  }
  const answered = await askStreamed(chat, request, job)
  if (answered.kind === 'failed') return answered
  const { answer: parts, source } = answered
  const head = headOf(source)
  const chunks = bytesOf(chat, parts, format.eventsOf(order, { ...head, model: parts.model }))
  return { kind: 'stream', contentType: 'text/event-stream; charset=utf-8', chunks, meta: head.meta }
}

async function* bytesOf(chat: Chat, parts: ReplyParts, { begin, text, end }: ReplyEvents): AsyncGenerator<Uint8Array> {
  const texts = textsOf(chat, parts)
  try {
    if (begin !== '') yield Buffer.from(begin)
    let step = await texts.next()
    for (; step.done !== true; step = await texts.next()) yield Buffer.from(text(step.value))
    yield Buffer.from(end(step.value))
  } finally {
    parts.stop()
  }
}
