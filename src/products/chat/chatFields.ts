import { z } from 'zod'
import type { ChatTurn } from './server/chatRequest.ts'
import { outputTokensMost } from '../../pricing/modelPrices.ts'
import { bounded, boundedInteger, characterCount, text } from '../../product/text.ts'

/* Fields and rules that the two wire formats of the chat share. */

const messageCharactersMax = 8_000
/** Maximum length of all messages of one request together, including the system prompt: some 4,000 tokens of English. */
const conversationCharactersMax = 16_000
const messagesMax = 50

export const messageText = text({
  expected: '1 to 8,000 characters, not only white space',
  allowBreaks: true,
  shown: { minLength: 1, maxLength: messageCharactersMax },
  test: (value) => value.trim() !== '' && characterCount(value) <= messageCharactersMax,
})

export const conversationRule = `together at most ${conversationCharactersMax.toLocaleString('en-US')} characters`

/** A conversation. The model answers its last message. */
export function conversation<T extends z.ZodType>(message: T) {
  const expected = `must be a list of 1 to ${messagesMax} messages`
  return z.array(message, { error: expected }).min(1, expected).max(messagesMax, expected)
}

/** The models for sale, and the tokens of output that each price covers. */
export interface ModelRules {
  /** Undefined before the configuration is read, so that the documents accept any name. */
  readonly models: readonly string[] | undefined
  readonly outputTokensMax: (model?: string) => number
}

/** Rules before the configuration is read, with the largest limit that can be configured. */
export const anyModel: ModelRules = { models: undefined, outputTokensMax: () => outputTokensMost }

/** A limit of tokens, up to the largest limit of all models. `withinLimits` checks the limit of the chosen model. */
export function tokenLimit(rules: ModelRules) {
  return boundedInteger(1, largestLimitOf(rules))
}

function largestLimitOf({ models = [], outputTokensMax }: ModelRules): number {
  return Math.max(outputTokensMax(), ...models.map(outputTokensMax))
}

interface TurnReader<Order> {
  readonly turnOf: (order: Order) => ChatTurn
  /** Returns the name of the order's field that limits the tokens. */
  readonly tokensField: (order: Order) => string
}

/** Refuses conversations that are too long, and token limits beyond what the price of the chosen model covers. */
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
    // Skip numbers beyond the limits of all models, because `tokenLimit` has refused them.
    if (tokensMax > most && tokensMax <= largestLimitOf(rules)) {
      const message = `must be a whole number from 1 to ${most} for this model`
      context.addIssue({ code: 'custom', path: [tokensField(order)], message })
    }
  })
}

/** A configured model. */
export function modelName({ models }: ModelRules) {
  return text({
    expected: models === undefined ? 'the name of a model' : `one of the models ${models.join(', ')}`,
    shown: { minLength: 1, maxLength: 200 },
    test: (value) => models?.includes(value) ?? value !== '',
  })
}

// The range that OpenAI allows.
export const temperature = bounded(0, 2)
