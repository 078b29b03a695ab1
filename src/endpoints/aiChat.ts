import { z } from 'zod'
import { type Clock, isoTime } from '@tollbook/core/clock'
import type { ChatReply, ChatServer } from '../outbound/chatServer.ts'
import { UpstreamFailure } from '../outbound/upstreamFailure.ts'
import type { Job, Outcome } from '../product/product.ts'
import { createLiveness, type Liveness, type ProbedProvider } from './liveness.ts'
import { defineProduct, type ProductHandler } from './productDefinition.ts'
import type { DemoBuyer } from './productFacts.ts'
import { characterCount, text } from './text.ts'

const messageCharactersMax = 8_000

const message = text({
  expected: '1 to 8,000 characters, not only white space',
  allowBreaks: true,
  shown: { minLength: 1, maxLength: messageCharactersMax },
  test: (value) => value.trim() !== '' && characterCount(value) <= messageCharactersMax,
})

const parameters = z.strictObject({ message })

const tokens = z.int().min(0).nullable().meta({ description: 'null when the language model did not say' })

const answer = z.object({
  reply: z.string().min(1),
  model: z.string().meta({ description: 'the model, as its server names it' }),
  usage: z.object({ promptTokens: tokens, completionTokens: tokens, totalTokens: tokens }),
})

export const aiChat = defineProduct({
  path: '/api/ai/chat',
  method: 'POST',
  summary: 'An answer of a language model to one message',
  priceMicroUsd: 50_000n,
  parameters,
  answer,
  example: {
    order: { message: 'Hello!' },
    answer: { reply: 'Hi!', model: 'llama3.2', usage: { promptTokens: 27, completionTokens: 3, totalTokens: 30 } },
  },
  providers: ['AI'],
  demo: { order: () => ({ message: 'In one sentence: what is a ledger?' }), check: checkDemo },
  open: openAiChat,
})

export interface AiChatDeps {
  readonly clock: Clock
  readonly sampleUpstreams: boolean
  readonly isProbed: boolean
  /** In the order of preference. */
  readonly chatServers: readonly ChatServer[]
}

interface Chat extends AiChatDeps {
  readonly liveness: Liveness
}

function openAiChat(deps: AiChatDeps): ProductHandler<z.infer<typeof parameters>> {
  const chat = { ...deps, liveness: createLiveness(deps, deps.chatServers.map(probedServer)) }
  return {
    probes: deps.chatServers.length === 0 ? [] : [chat.liveness],
    providersAnswer: () => chat.liveness.someAnswer(),
    whyUnavailable: () => whyUnavailable(chat),
    deliver: (order, job) => askInTurn(chat, order.message, job),
  }
}

function probedServer({ label, whyResting, probe }: ChatServer): ProbedProvider {
  return {
    name: label,
    whyUnavailable: whyResting,
    async probe() {
      await probe()
      return true
    },
  }
}

const printedMax = 100

function checkDemo({ reply, model }: z.infer<typeof answer>, { expect }: DemoBuyer): string {
  expect(model !== '', 'the answer names its model')
  const line = reply.replaceAll(/\s+/g, ' ')
  return `${model}: "${line.length > printedMax ? `${line.slice(0, printedMax)}…` : line}"`
}

function whyUnavailable({ chatServers, liveness }: Chat): string | undefined {
  if (chatServers.length === 0) return 'AI chat is not set up on this server'
  if (!liveness.someAnswer()) return 'no language model answers at the moment'
  return chatServers.every((server) => !liveness.answers(server.label) || server.whyResting() !== undefined)
    ? 'no language model can be asked at the moment'
    : undefined
}

async function askInTurn(
  { clock, sampleUpstreams, chatServers, liveness }: Chat,
  said: string,
  { signal }: Job,
): Promise<Outcome> {
  const failures: UpstreamFailure[] = []
  for (const server of chatServers) {
    if (signal.aborted) break
    if (server.whyResting() !== undefined) continue
    try {
      const answered = await server.ask(said, signal)
      liveness.noteAnswer(server.label)
      const source = sampleUpstreams ? 'sample:openai-compatible' : server.name
      return deliveredOf(answered, source, isoTime(clock.nowMs()))
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      liveness.noteFailure(server.label, error)
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
