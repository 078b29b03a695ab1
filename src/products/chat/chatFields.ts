import { z } from 'zod'
import type { ChatTurn } from './server/chatRequest.ts'
import { outputTokensMost } from '../../pricing/modelPrices.ts'
import { bounded, boundedInteger, characterCount, text } from '../../product/text.ts'

/* Fields and rules that the two wire formats of the chat share. */

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

/** The largest limit of any model; `withinLimits` checks that of the model that was chosen. */
export function tokenLimit(rules: ModelRules) {
  return boundedInteger(1, largestLimitOf(rules))
}

function largestLimitOf({ models = [], outputTokensMax }: ModelRules): number {
  return Math.max(outputTokensMax(), ...models.map(outputTokensMax))
}

interface TurnReader<Order> {
  readonly turnOf: (order: Order) => ChatTurn
  /** The field of the order that has the limit of tokens. */
  readonly tokensField: (order: Order) => string
}

/** Refuses conversations that are too long, and limits of tokens that the price of the chosen model does not cover. */
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
    // `tokenLimit` has refused a number beyond the limits of all models.
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

// The range of OpenAI.
export const temperature = bounded(0, 2)
