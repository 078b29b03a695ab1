import type { Json } from '@tollbook/core/canonicalJson'
import type { ErrorForm } from '../../product/productFacts.ts'

/* OpenAI's wire format for errors, and for parameters that clients send although they have no effect. */

/** Writes an error in OpenAI's wire format. All other members stay, so that a client can still find the payment offer. */
export const openAiError: ErrorForm = (status, body) => {
  const { error = '', code = null, details } = body
  return { ...body, error: { message: error, type: typeOf(status), param: fieldOf(details), code } }
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 402) return 'payment_required'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

function fieldOf(details: Json | undefined): Json {
  const [first] = Array.isArray(details) ? details : []
  return typeof first === 'object' && first !== null && !Array.isArray(first) ? (first['field'] ?? null) : null
}

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown) => typeof value === 'string'
const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0
const is = (neutral: unknown) => (value: unknown) => value === neutral

/**
 * Values at which a parameter has no effect on a reply. The service does not support these parameters, so it refuses
 * all other values.
 */
const neutral: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['presence_penalty', is(0)],
  ['frequency_penalty', is(0)],
  ['logit_bias', isEmpty],
  ['logprobs', is(false)],
  ['top_logprobs', is(0)],
  ['tools', isEmptyList],
  ['functions', isEmptyList],
  ['tool_choice', (value) => value === 'none' || value === 'auto'],
  ['function_call', (value) => value === 'none' || value === 'auto'],
  ['parallel_tool_calls', (value) => typeof value === 'boolean'],
  ['service_tier', (value) => value === 'auto' || value === 'default'],
  ['store', is(false)],
  ['modalities', (value) => Array.isArray(value) && value.every(is('text'))],
  // Facts about the caller for OpenAI's records, without effect on the reply.
  ['user', isText],
  ['safety_identifier', isText],
  ['prompt_cache_key', isText],
  ['metadata', isObject],
])

/** Empty members that clients copy from an earlier reply into a message. */
const neutralOfMessage: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['tool_calls', isEmptyList],
  ['annotations', isEmptyList],
])

/** Removes members without effect. `null` counts as absent, as in OpenAI's API. */
export function withoutNeutral(input: unknown): unknown {
  if (!isObject(input)) return input
  const order = keep(input, neutral)
  const { messages } = order
  return Array.isArray(messages) ? { ...order, messages: messages.map(withoutNeutralMembers) } : order
}

function withoutNeutralMembers(message: unknown): unknown {
  return isObject(message) ? keep(message, neutralOfMessage) : message
}

function keep(members: Members, rules: typeof neutral): Members {
  return Object.fromEntries(
    Object.entries(members).filter(([name, value]) => value !== null && rules.get(name)?.(value) !== true),
  )
}
