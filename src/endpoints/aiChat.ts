import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { neverBuilt } from './neverBuilt.ts'
import { characterCount, text } from './text.ts'

const message = text({
  expected: '1 to 8,000 characters, not only white space',
  allowBreaks: true,
  test: (value) => value.trim() !== '' && characterCount(value) <= 8_000,
})

export function createAiChat(): Endpoint {
  return defineEndpoint({
    path: '/api/ai/chat',
    method: 'POST',
    summary: 'An answer of a language model to one message',
    schema: z.strictObject({ message }),
    ...neverBuilt('chat answers'),
  })
}
