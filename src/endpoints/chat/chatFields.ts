import { z } from 'zod'
import type { ChatMessage } from '../../outbound/chatRequest.ts'
import { characterCount, text } from '../text.ts'

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

export function fitsConversation(messages: readonly ChatMessage[]): boolean {
  return messages.reduce((sum, { content }) => sum + characterCount(content), 0) <= conversationCharactersMax
}

/** A conversation whose last message the model answers. */
export function conversation<T extends z.ZodType>(message: T) {
  const expected = `must be a list of 1 to ${messagesMax} messages`
  return z.array(message, { error: expected }).min(1, expected).max(messagesMax, expected)
}

/** A configured model; undefined before the configuration is known, so that any name is documented. */
export function modelName(models: readonly string[] | undefined) {
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
// Before the configuration is known: the largest limit that can be configured.
export const outputTokensMost = 32_768
