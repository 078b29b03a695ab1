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
  createChat,
  cutOff,
  type ReplyParts,
  rulesOf,
  supplyOf,
  textsOf,
  variantOf,
  whyChatUnavailable,
} from './chatTurn.ts'
import { charactersPerToken } from '../../pricing/tokenCount.ts'
import { affordableTokens, chatUsage, countInput } from './chatUsage.ts'
import type { ChatEnd, ChatReply, ChatRequest, ChatTurn, ChatUsage } from './server/chatRequest.ts'
import type { Job, Meta, Outcome, Raw, Value } from '../../product/product.ts'
import type { ProductHandler } from '../../product/productDefinition.ts'

/*
 * A format only reads orders and writes replies, so that all formats share the limits, the servers and the usage.
 */

export interface ChatFormat<Order> {
  readonly parametersWith: (rules: ModelRules) => z.ZodType<Order>
  readonly turnOf: (order: Order) => ChatTurn
  readonly replyOf: (reply: ChatReply, head: ReplyHead) => Value | Raw
  readonly eventsOf: (order: Order, head: ReplyHead & { readonly model: string }) => ReplyEvents
}

export interface ReplyHead {
  readonly requestId: string
  readonly nowMs: number
  readonly meta: Meta
}

/** `begin` is sent first, and is empty if the format has no opening event. */
export interface ReplyEvents {
  readonly begin: string
  readonly text: (text: string) => string
  readonly end: (end: ChatEnd) => string
}

export function openChatIn<Order extends Json>(format: ChatFormat<Order>) {
  return (deps: ChatDeps): ProductHandler<Order> => {
    const chat = createChat(deps)
    const modelOf = (order: Order) => format.turnOf(order).model
    return {
      ...supplyOf(chat),
      parameters: format.parametersWith(rulesOf(deps)),
      variant: (order) => variantOf(chat, modelOf(order)),
      formerVariant: modelOf,
      whyUnavailable: (order) => whyChatUnavailable(chat, order === undefined ? undefined : modelOf(order)),
      covers: (order) => coverageOf(chat, format.turnOf(order)),
      inputUnits: (order) => countInput(format.turnOf(order).messages),
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
  const request = requestFor(chat, turn, job)
  const headOf = (source: string): ReplyHead => {
    const nowMs = chat.clock.nowMs()
    return { requestId: job.requestId, nowMs, meta: { source, asOf: isoTime(nowMs), cached: false } }
  }
  if (turn.isStreamed !== true) {
    const answered = await askWhole(chat, request, job)
    if (answered.kind === 'failed') return answered
    const { reply, usage: reported } = answered.answer
    return {
      ...format.replyOf(endOf(answered.answer, request), headOf(answered.source)),
      usage: chatUsage({ ...request, reply, reported }),
    }
  }
  const answered = await askStreamed(chat, request, job)
  if (answered.kind === 'failed') return answered
  const { answer: parts, source } = answered
  const head = headOf(source)
  const written: Written = { reply: '', reported: cutOff(parts.model).usage }
  const chunks = bytesOf(chat, { parts, written, request }, format.eventsOf(order, { ...head, model: parts.model }))
  const usageSoFar = () => chatUsage({ ...request, ...written })
  return { kind: 'stream', contentType: 'text/event-stream; charset=utf-8', chunks, meta: head.meta, usageSoFar }
}

/**
 * Returns the request for a server. The price covers a number of output tokens. For an order that is priced by use, the
 * caller's budget may cover fewer.
 */
function requestFor(chat: Chat, turn: ChatTurn, { metered }: Job): ChatRequest {
  const covered = turn.tokensMax ?? rulesOf(chat).outputTokensMax(turn.model)
  if (metered === undefined) return { ...turn, tokensMax: covered }
  const tokens = affordableTokens(metered.price, { ...metered, messages: turn.messages })
  const tokensMax = Math.min(covered, tokens)
  const limited = { ...turn, tokensMax, charactersMax: tokensMax * charactersPerToken }
  return tokens < covered ? { ...limited, stoppedBy: 'limit' } : limited
}

/** Adds `stoppedBy` because the finish reason `length` does not show whether the caller's budget ended the reply. */
function endOf<End extends ChatEnd>(end: End, { stoppedBy }: ChatRequest): End {
  return stoppedBy === undefined || end.finishReason !== 'length' ? end : { ...end, stoppedBy }
}

/** If a reply breaks off, its usage is counted from the text that was sent so far. */
interface Written {
  reply: string
  reported: ChatUsage
}

interface Writing {
  readonly parts: ReplyParts
  readonly request: ChatRequest
  readonly written: Written
}

async function* bytesOf(
  chat: Chat,
  { parts, written, request }: Writing,
  { begin, text, end }: ReplyEvents,
): AsyncGenerator<Uint8Array> {
  const texts = textsOf(chat, parts)
  try {
    if (begin !== '') yield Buffer.from(begin)
    let step = await texts.next()
    for (; step.done !== true; step = await texts.next()) {
      written.reply += step.value
      yield Buffer.from(text(step.value))
    }
    written.reported = step.value.usage
    yield Buffer.from(end(endOf(step.value, request)))
  } finally {
    parts.stop()
  }
}
