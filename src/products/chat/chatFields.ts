import { z } from 'zod'
import type { ChatMessage } from './server/chatRequest.ts'
import { outputTokensMost } from '../../pricing/modelPrices.ts'
import { characterCount, text } from '../../product/text.ts'

/* Fields that the two chat endpoints share. */

const messageCharactersMax = 8_000
/** Limit of all messages of one request together, the system prompt included: some 4,000 tokens of English. */
const conversationCharactersMax = 16_000
const messagesMax = 50

export const messageText = text({
  expected: '1 to 8,000 characters, not only white space',
  allowBreaks: true,
  shown: { minLength: 1, maxLength: messageCharactersMax },
  test: (value) => value.trim() !== '' && characterCount(value) <= messageCharactersMax,
})

export const conversationRule = `together at most ${conversationCharactersMax.toLocaleString('en-US')} characters`

/** Limit of all messages together, in characters. Each message has its own limit besides. */
export function fitsConversation(messages: readonly ChatMessage[]): boolean {
  return messages.reduce((sum, { content }) => sum + characterCount(content), 0) <= conversationCharactersMax
}

/** A conversation whose last message the model answers. */
export function conversation<T extends z.ZodType>(message: T) {
  const expected = `must be a list of 1 to ${messagesMax} messages`
  return z.array(message, { error: expected }).min(1, expected).max(messagesMax, expected)
}

/** The models on offer, and the tokens of output that the price of each covers. */
export interface ModelRules {
  /** Undefined before the configuration is known, so that any name is documented. */
  readonly models: readonly string[] | undefined
  readonly outputTokensMax: (model?: string) => number
}

/** Rules before the configuration is known: the largest limit that can be configured. */
export const anyModel: ModelRules = { models: undefined, outputTokensMax: () => outputTokensMost }

/** The largest limit of any model; `refuseTokens` checks that of the model that was chosen. */
export function tokenLimit(rules: ModelRules) {
  return wholeNumber({ min: 1, max: largestLimitOf(rules) })
}

function largestLimitOf({ models = [], outputTokensMax }: ModelRules): number {
  return Math.max(outputTokensMax(), ...models.map(outputTokensMax))
}

/** The problem with a limit of tokens for this model; undefined when there is none. */
export function refuseTokens(
  rules: ModelRules,
  { model, tokensMax = 1 }: { readonly model?: string | undefined; readonly tokensMax?: number | undefined },
): string | undefined {
  const most = rules.outputTokensMax(model)
  // `tokenLimit` has refused a number beyond the limits of all models.
  return tokensMax <= most || tokensMax > largestLimitOf(rules)
    ? undefined
    : `must be a whole number from 1 to ${most} for this model`
}

/** A configured model. */
export function modelName({ models }: ModelRules) {
  return text({
    expected: models === undefined ? 'the name of a model' : `one of the models ${models.join(', ')}`,
    shown: { minLength: 1, maxLength: 200 },
    test: (value) => models?.includes(value) ?? value !== '',
  })
}

export interface NumberRule {
  readonly min: number
  readonly max: number
}

export function fraction({ min, max }: NumberRule) {
  const expected = `must be a number from ${min} to ${max}`
  return z.number({ error: expected }).min(min, expected).max(max, expected)
}

export function wholeNumber({ min, max }: NumberRule) {
  const expected = `must be a whole number from ${min} to ${max}`
  return z.int({ error: expected }).min(min, expected).max(max, expected)
}

export function flag(description: string) {
  return z.boolean({ error: 'must be true or false' }).meta({ description })
}

// The range of OpenAI.
export const temperature = fraction({ min: 0, max: 2 })
