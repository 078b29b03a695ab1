import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { outputWithin, type Usage } from '../pricing/meteredPrice.ts'
import { chargedUsage, type CountedReply, countTokens, tokensPerMessage } from '../pricing/tokenCount.ts'
import type { MeteredJob } from '../product/product.ts'
import type { Parameters } from './checkParameters.ts'
import { isSchema, type Schema } from './parameterSchema.ts'

/*
 * Tokens of an API with OpenAI's wire format. The output is limited before the request, so that the budget pays for the
 * reply.
 */

// Members whose text is neither part of the prompt nor part of the reply.
const unread = new Set(['role', 'type', 'id', 'name', 'index', 'finish_reason'])

export function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  // A prompt can be a list of token ids.
  if (typeof value === 'number') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => (unread.has(name) ? [] : textsIn(member)))
}

const textNames = ['messages', 'prompt', 'input', 'system', 'instructions', 'suffix']
// The model also reads the names in these schemas.
const schemaNames = ['tools', 'functions', 'response_format']
const limitingNames = ['max_tokens', 'max_completion_tokens']

/** Names of an order that limit or count its tokens. */
export const tokenNames = [...textNames, ...schemaNames, ...limitingNames, 'n', 'best_of', 'stream', 'stream_options']

/** Estimates the tokens of the prompt, because only the API's answer states the exact number. */
export function countInput(order: Parameters): number {
  const { messages } = order
  const schemas = schemaNames.flatMap((name) => (name in order ? [JSON.stringify(order[name])] : []))
  const texts = [...textNames.flatMap((name) => textsIn(order[name])), ...schemas]
  const marks = Array.isArray(messages) ? messages.length * tokensPerMessage : 0
  return texts.reduce((sum, text) => sum + countTokens(text), marks)
}

export interface LimitedOrder {
  readonly order: Parameters
  readonly input: number
  /** Of all replies together. */
  readonly outputMax: number
  /** True if the budget limits the output, instead of the caller's or the route's limit. */
  readonly isByBudget: boolean
  /** True if the caller requested the token counts of a streamed answer. */
  readonly wantsUsage: boolean
}

const ownLimit = z.int().positive().optional().catch(undefined)
const highest = z.looseObject({ maximum: ownLimit }).catch({ maximum: undefined })
const streamOptions = z.looseObject({ include_usage: z.boolean().optional() }).catch({})

/**
 * Limits the tokens of an order to its budget. For a stream, also requests the usage, because APIs with OpenAI's wire
 * format omit it by default.
 */
export function limitTokens(order: Parameters, schema: Schema, { price, budgetMicroUsd }: MeteredJob): LimitedOrder {
  const input = countInput(order)
  // If the budget does not cover one output token, request one anyway: the charge is capped at the budget.
  const affordable = outputWithin(price, { input, budgetMicroUsd }) ?? 1
  const properties = isSchema(schema['properties']) ? schema['properties'] : {}
  const names = limitNames(order, properties)
  const limits = names.map((name) => ownLimit.parse(order[name]) ?? highest.parse(properties[name]).maximum)
  // The token limit applies to each reply, and the budget to all of them.
  const replies = countReplies(order)
  const own = replies * Math.min(...limits.map((limit) => limit ?? Number.MAX_SAFE_INTEGER))
  const outputMax = Math.min(own, affordable)
  const limitEach = Math.max(1, Math.floor(outputMax / replies))
  // The output needs no limit if it is free, because it does not change the charge.
  const hasOutput = price.outputPerMillionMicroUsd > 0n
  const options = streamOptions.parse(order['stream_options'])
  const limited = hasOutput ? Object.fromEntries(names.map((name) => [name, limitEach])) : {}
  const asking = order['stream'] === true ? { stream_options: { ...options, include_usage: true } } : {}
  return {
    order: { ...order, ...limited, ...asking },
    input,
    outputMax,
    isByBudget: affordable < own,
    wantsUsage: options.include_usage === true,
  }
}

/** Returns the number of replies that the API makes. It makes `best_of` replies to each prompt, and returns `n` of them. */
function countReplies({ prompt, n, best_of: bestOf }: Parameters): number {
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1
  return prompts * Math.max(...[n, bestOf].map((asked) => ownLimit.parse(asked) ?? 1))
}

/**
 * Returns the names of the token limits in the order, or else the name that the route uses. Newer models accept only
 * `max_completion_tokens`.
 */
function limitNames(order: Parameters, properties: Schema): readonly string[] {
  const given = limitingNames.filter((name) => name in order)
  return given.length > 0 ? given : [limitingNames.find((name) => name in properties) ?? 'max_tokens']
}

const count = z.int().min(0)
const report = z.object({ usage: z.object({ prompt_tokens: count, completion_tokens: count.default(0) }) })

export function reportIn(data: unknown): Pick<Usage, 'input' | 'output'> | undefined {
  const { usage } = report.safeParse(data).data ?? {}
  return usage === undefined ? undefined : { input: usage.prompt_tokens, output: usage.completion_tokens }
}

type Written = Pick<LimitedOrder, 'order' | 'input' | 'outputMax'> & Pick<CountedReply, 'reply' | 'reported'>

export function tokenUsage({ order, ...counted }: Written): Usage {
  return chargedUsage({ ...counted, inputMost: Buffer.byteLength(JSON.stringify(order)) })
}

// A chat has `message`, a streamed chat `delta`, and a completion `text`.
const choices = z.object({
  choices: z.array(z.object({ delta: z.json(), message: z.json(), text: z.json() }).partial()),
})

export function hasReply(data: unknown): boolean {
  return choices.safeParse(data).success
}

export function replyIn(data: unknown): string {
  const read = choices.safeParse(data).data?.choices ?? []
  return read.flatMap(({ delta, message, text }) => [delta, message, text].flatMap(textsIn)).join('')
}
