import { z } from 'zod'
import type { ChatTurn } from './server/chatRequest.ts'
import { outputTokensMost } from '../../pricing/modelPrices.ts'
import { bounded, boundedInteger, characterCount, text } from '../../product/text.ts'

const messageCharactersMax = 8_000
/** Maximum total length of all messages of a request, including the system prompt: about 4,000 tokens of English. */
const conversationCharactersMax = 16_000
const messagesMax = 50

export const messageText = text({
  expected: '1 to 8,000 characters, not only white space',
  allowBreaks: true,
  shown: { minLength: 1, maxLength: messageCharactersMax },
  test: (value) => value.trim() !== '' && characterCount(value) <= messageCharactersMax,
})

export const conversationRule = `together at most ${conversationCharactersMax.toLocaleString('en-US')} characters`

export function conversation<T extends z.ZodType>(message: T) {
  const expected = `must be a list of 1 to ${messagesMax} messages`
  return z.array(message, { error: expected }).min(1, expected).max(messagesMax, expected)
}

export interface ModelRules {
  /** Undefined before the configuration is read: the API documents then accept any model name. */
  readonly models: readonly string[] | undefined
  readonly outputTokensMax: (model?: string) => number
}

/**
 * Rules for the API documents, which are built before the configuration is read. The token limit is the largest
 * configurable limit.
 */
export const anyModel: ModelRules = { models: undefined, outputTokensMax: () => outputTokensMost }

/** Allows the largest limit of all models. `withinLimits` then checks the limit of the chosen model. */
export function tokenLimit(rules: ModelRules) {
  return boundedInteger(1, largestLimitOf(rules))
}

function largestLimitOf({ models = [], outputTokensMax }: ModelRules): number {
  return Math.max(outputTokensMax(), ...models.map(outputTokensMax))
}

interface TurnReader<Order> {
  readonly turnOf: (order: Order) => ChatTurn
  /** The error message uses the name of this order field. */
  readonly tokensField: (order: Order) => string
}

export function withinLimits<Order>(
  schema: z.ZodType<Order>,
  rules: ModelRules,
  { turnOf, tokensField }: TurnReader<Order>,
): z.ZodType<Order> {
  return schema.superRefine((order, context) => {
    const { messages, model, tokensMax = 1 } = turnOf(order)
    const characters = messages.reduce((sum, { content }) => sum + characterCount(content), 0)
    if (characters > conversationCharactersMax)
      context.addIssue({ code: 'custom', path: ['messages'], message: `must have ${conversationRule}` })
    const most = rules.outputTokensMax(model)
    // Skip numbers above the limits of all models, because `tokenLimit` has already refused them.
    if (tokensMax > most && tokensMax <= largestLimitOf(rules)) {
      const message = `must be a whole number from 1 to ${most} for this model`
      context.addIssue({ code: 'custom', path: [tokensField(order)], message })
    }
  })
}

/**
 * Accepts the names of the models. The API documents are built before the models are known, so any name is accepted
 * then.
 */
export function modelName({ models }: ModelRules) {
  return text({
    expected: models === undefined ? 'the name of a model' : `one of the models ${models.join(', ')}`,
    shown: { minLength: 1, maxLength: 200 },
    test: (value) => models?.includes(value) ?? value !== '',
  })
}

// OpenAI allows the same range.
export const temperature = bounded(0, 2)
