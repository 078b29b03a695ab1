import { z } from 'zod'
import type { ChatMessage } from '../../outbound/chatRequest.ts'
import { characterCount, text } from '../text.ts'

/* Fields that the two chat endpoints share. */

const messageCharactersMax = 8_000
/** Of all messages of one request, the system prompt included: some 4,000 tokens of English. */
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

/** A configured model; before the configuration is known, any name. */
export function modelName(models: readonly string[]) {
  const [first, ...others] = models
  if (first === undefined)
    return text({
      expected: 'the name of a model',
      shown: { minLength: 1, maxLength: 200 },
      test: (value) => value.length <= 200,
    })
  return z.enum([first, ...others], { error: `must be one of ${models.join(', ')}` }).meta({ description: 'the model' })
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

// What OpenAI accepts.
export const temperature = fraction({ min: 0, max: 2 })
// Before the configuration is known: the largest limit that can be configured.
export const outputTokensMost = 32_768
