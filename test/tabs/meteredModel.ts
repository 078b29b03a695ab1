import { z } from 'zod'
import type { Asked, Script } from '../support/loopbackServer.ts'
import type { ServerResponse } from 'node:http'

/* A server of a language model with a behaviour for each kind of usage and end. The last message names the behaviour. */

export const behaviours = [
  'usage',
  'no_usage',
  'null_usage',
  'too_much_usage',
  'too_much_prompt',
  'no_tokens',
  'over_the_limit',
  'slow',
  'one_chunk',
  'other_language',
  'cut',
  'silent_end',
] as const
const order = z.object({
  messages: z.array(z.object({ content: z.string() })),
  max_tokens: z.number(),
  stream: z.boolean().optional(),
})

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index % 10} `)

/** Texts of the reply, in chunks. */
function textsOf(behaviour: string, tokensMax: number): readonly string[] {
  if (behaviour === 'over_the_limit') return words(tokensMax * 8)
  if (behaviour === 'one_chunk') return [words(40).join('')]
  if (behaviour === 'other_language') return Array.from({ length: 30 }, () => 'Добрый день ')
  return words(Math.min(40, tokensMax))
}

function usageOf(behaviour: string, texts: readonly string[]): object | null | undefined {
  const written = texts.join('').trim().split(' ').length
  const count = { prompt_tokens: 11, completion_tokens: written, total_tokens: 11 + written }
  if (behaviour === 'no_usage' || behaviour === 'other_language' || behaviour === 'silent_end') return undefined
  if (behaviour === 'null_usage') return { prompt_tokens: null, completion_tokens: null, total_tokens: null }
  if (behaviour === 'too_much_usage') return { ...count, completion_tokens: 1_000_000_000 }
  if (behaviour === 'too_much_prompt') return { ...count, prompt_tokens: 1_000_000_000 }
  if (behaviour === 'no_tokens') return { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  return count
}

const model = 'small'

/** Answers a chat, whole or streamed, as the first word of its last message says. */
export const meteredModel: Script = ({ body, path }: Asked, response) => {
  if (path.endsWith('/chat/completions')) answer(body, response)
  else response.writeHead(404).end('{}')
}

function answer(body: string, response: ServerResponse): void {
  const { messages, max_tokens: tokensMax, stream } = order.parse(JSON.parse(body))
  const [behaviour = ''] = (messages.at(-1)?.content ?? '').split(' ')
  const texts = textsOf(behaviour, tokensMax)
  const usage = usageOf(behaviour, texts)
  if (stream === true) {
    void streamed(response, { behaviour, texts, usage })
    return
  }
  if (behaviour === 'cut') {
    response.destroy()
    return
  }
  const content = texts.join('')
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ model, choices: [{ message: { content }, finish_reason: 'stop' }], usage }))
}

interface Answer {
  readonly behaviour: string
  readonly texts: readonly string[]
  readonly usage: object | null | undefined
}

async function streamed(response: ServerResponse, { behaviour, texts, usage }: Answer): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (data: object | string) =>
    void response.write(`data: ${typeof data === 'string' ? data : JSON.stringify({ model, ...data })}\n\n`)
  for (const content of texts) {
    if (response.destroyed) return
    send({ choices: [{ index: 0, delta: { content } }] })
    if (behaviour === 'slow') await new Promise((resolve) => setTimeout(resolve, 5))
    else await new Promise((resolve) => setImmediate(resolve))
  }
  if (behaviour === 'cut') {
    response.destroy()
    return
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  if (usage !== undefined) send({ choices: [], usage })
  if (behaviour !== 'silent_end') send('[DONE]')
  response.end()
}
