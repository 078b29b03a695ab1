import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import type { ChatReply, ChatServer } from '../outbound/chatServer.ts'
import { UpstreamFailure } from '../outbound/upstreamFailure.ts'
import { defineEndpoint, type Endpoint, type Job, type Outcome } from './endpoint.ts'
import { characterCount, text } from './text.ts'

const messageCharactersMax = 8_000

const message = text({
  expected: '1 to 8,000 characters, not only white space',
  allowBreaks: true,
  shown: { minLength: 1, maxLength: messageCharactersMax },
  test: (value) => value.trim() !== '' && characterCount(value) <= messageCharactersMax,
})

export interface AiChatDeps {
  readonly clock: Clock
  readonly sampleUpstreams: boolean
  /** In the order they are asked. */
  readonly chatServers: readonly ChatServer[]
}

export function createAiChat(deps: AiChatDeps): Endpoint {
  return defineEndpoint({
    path: '/api/ai/chat',
    method: 'POST',
    summary: 'An answer of a language model to one message',
    schema: z.strictObject({ message }),
    whyUnavailable: () => whyUnavailable(deps),
    handle: ({ message }, job) => answer(deps, message, job),
  })
}

function whyUnavailable({ chatServers }: AiChatDeps): string | undefined {
  if (chatServers.length === 0) return 'AI chat is not set up on this server'
  return chatServers.every((server) => server.whyResting() !== undefined)
    ? 'no language model can be asked at the moment'
    : undefined
}

async function answer(
  { clock, sampleUpstreams, chatServers }: AiChatDeps,
  message: string,
  { signal }: Job,
): Promise<Outcome> {
  const failures: UpstreamFailure[] = []
  for (const server of chatServers) {
    if (signal.aborted) break
    if (server.whyResting() !== undefined) continue
    try {
      const answered = await server.ask(message, signal)
      const source = sampleUpstreams ? 'sample:openai-compatible' : server.name
      return deliveredOf(answered, source, isoTime(clock.nowMs()))
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      failures.push(error)
    }
  }
  return failedOf(signal.aborted ? ['timeout'] : failures.map(({ kind }) => kind))
}

function deliveredOf({ reply, model, usage, finishReason }: ChatReply, source: string, asOf: string): Outcome {
  return {
    kind: 'delivered',
    data: { reply, model, usage: { ...usage } },
    meta: { source, asOf, cached: false, finishReason },
  }
}

function failedOf(kinds: readonly UpstreamFailure['kind'][]): Outcome {
  if (kinds.includes('timeout')) {
    const message = 'no language model answered in time; repeat with the same proof'
    return { kind: 'failed', code: 'UPSTREAM_TIMEOUT', message }
  }
  const message =
    kinds.length > 0 && kinds.every((kind) => kind === 'not_covered')
      ? 'no language model gave an answer to this message; repeat it, or send it in other words, with the same proof'
      : 'no language model gave a usable answer; repeat with the same proof'
  return { kind: 'failed', code: 'UPSTREAM_FAILED', message }
}
