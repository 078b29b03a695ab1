import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { withoutReasoning } from './reasoning.ts'
import { retryAfterMsOf } from './retryAfter.ts'
import { createUpstream, type Reply, type Upstream, type UpstreamDeps } from './upstream.ts'
import { UpstreamFailure } from './upstreamFailure.ts'
import { findUrlProblem } from './urlGuard.ts'

/** One server of the OpenAI chat protocol: OpenAI, OpenRouter, Ollama, llama.cpp, vLLM, LM Studio. */
export interface ChatServer {
  /** Unique among the servers: "ai-1" is asked first. */
  readonly label: string
  /** The `source` of `meta`: the host if it is public. */
  readonly name: string
  /** Undefined when it can be asked now; otherwise the reason. */
  whyResting(): string | undefined
  /** Asks for the list of models, which costs no tokens. Throws only `UpstreamFailure`. */
  probe(): Promise<void>
  /** Throws only `UpstreamFailure`, without the provider's words: some servers quote the key they were sent. */
  ask(message: string, signal: AbortSignal): Promise<ChatReply>
}

export interface ChatReply {
  readonly reply: string
  readonly model: string
  readonly finishReason: string
  /** Null if the server does not report it. A number of ours would look like the server's. */
  readonly usage: {
    readonly promptTokens: number | null
    readonly completionTokens: number | null
    readonly totalTokens: number | null
  }
}

export interface ChatServerOptions {
  /** For metrics and logs, where hosts of the operator's network may stand side by side. */
  readonly label: string
  readonly baseUrl: string
  readonly model: string
  readonly apiKey: string | undefined
  readonly outputTokensMax: number
  readonly timeoutMs: number
}

const pauseMinMs = 1_000
const pauseMs = 5_000
// The next request would fail too until the operator changes the key, the credits or the model.
const refusedRestMs = 30_000
// The longest output that can be configured, 32,768 tokens, has some 150 kB, and escapes can make six bytes of one.
const answerBytesMax = 1024 * 1024

interface ChatServerState {
  readonly clock: Clock
  readonly options: ChatServerOptions
  readonly upstream: Upstream
  /** OpenAI's reasoning models know the limit under its new name only, most other servers under the old one only. */
  limitName: 'max_tokens' | 'max_completion_tokens'
}

export function createChatServer(deps: UpstreamDeps, options: ChatServerOptions): ChatServer {
  const { label, baseUrl, apiKey, timeoutMs } = options
  const upstream = createUpstream(deps, {
    name: label,
    base: new URL(baseUrl),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    timeoutMs,
    bytesMax: answerBytesMax,
    // A second answer would cost twice.
    triesMax: 1,
    readsFailures: true,
    pauseMinMs,
  })
  const state: ChatServerState = { clock: deps.clock, options, upstream, limitName: 'max_tokens' }
  return {
    label,
    name: publicNameOf(baseUrl),
    whyResting: upstream.whyResting,
    probe: () => probe(state),
    ask: (message, signal) => ask(state, message, signal),
  }
}

/** Hosts inside the operator's network are not named to callers. */
function publicNameOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  return findUrlProblem(`https://${hostname}/`) === undefined ? hostname : 'self-hosted'
}

const probeMs = 4_000

async function probe(state: ChatServerState): Promise<void> {
  const signal = AbortSignal.timeout(probeMs)
  await state.upstream.ask({ path: '/models', signal }, (reply) => {
    // Some servers have no list and say so in JSON. A page is a wrong address or a login.
    const hasNoList = reply.status === 404 || reply.status === 405
    if (!hasNoList && !(reply.status >= 200 && reply.status <= 299)) throw statusFailure(state, reply)
    if (jsonOf(reply.text) === undefined)
      throw new UpstreamFailure('bad_payload', `${state.options.label} answered something other than JSON`)
  })
}

async function ask(state: ChatServerState, message: string, signal: AbortSignal): Promise<ChatReply> {
  const { options, upstream, limitName } = state
  const body = JSON.stringify({
    model: options.model,
    messages: [{ role: 'user', content: message }],
    [limitName]: options.outputTokensMax,
  })
  const answered = await upstream.ask({ path: '/chat/completions', body, signal }, (reply) => {
    if (reply.status >= 200 && reply.status <= 299) return readReply(state, reply.text)
    if (limitName === 'max_tokens' && refusesLimitName(reply)) return 'other limit name'
    throw statusFailure(state, reply)
  })
  if (answered !== 'other limit name') return answered
  state.limitName = 'max_completion_tokens'
  return ask(state, message, signal)
}

const limitNameRefusal = z.object({ error: z.object({ param: z.literal('max_tokens') }) })

function refusesLimitName({ status, text }: Reply): boolean {
  return status === 400 && limitNameRefusal.safeParse(jsonOf(text)).success
}

function statusFailure({ options: { label }, clock }: ChatServerState, { status, headers }: Reply): UpstreamFailure {
  const said = `${label} answered HTTP ${status}`
  if (status === 429) {
    const retryAfterMs = Math.max(retryAfterMsOf(headers, clock) ?? pauseMs, pauseMinMs)
    return new UpstreamFailure('rate_limited', said, { retryAfterMs })
  }
  if ([401, 402, 403, 404].includes(status)) return new UpstreamFailure('auth', said, { retryAfterMs: refusedRestMs })
  if (status === 408 || status === 504) return new UpstreamFailure('timeout', said)
  // The message is too long for the model, or the model refuses it.
  if ([400, 413, 422].includes(status)) return new UpstreamFailure('not_covered', said)
  return new UpstreamFailure(status < 500 ? 'bad_payload' : 'upstream', said)
}

const count = z.int().min(0).nullish().catch(null)
const completion = z.object({
  error: z.unknown().optional(),
  model: z.string().min(1).max(200).optional().catch(undefined),
  choices: z
    .array(
      z.object({
        error: z.unknown().optional(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).nullish().catch(null),
})

// Reasons that end a complete answer. Some servers leave the reason out.
const finished: ReadonlySet<string> = new Set(['stop', 'length', 'unknown'])

function readReply({ options: { label, model } }: ChatServerState, text: string): ChatReply {
  const parsed = completion.safeParse(jsonOf(text))
  const [choice] = parsed.data?.choices ?? []
  if (!parsed.success || choice === undefined)
    throw new UpstreamFailure('bad_payload', `${label} sent something other than a chat completion`)
  // OpenRouter reports failures of the servers behind it under 200.
  if ((parsed.data.error ?? choice.error ?? undefined) !== undefined)
    throw new UpstreamFailure('upstream', `${label} answered with an error under HTTP 200`)
  const { content, refusal } = choice.message
  const finishReason = choice.finish_reason ?? 'unknown'
  if ((refusal ?? '') !== '' || !finished.has(finishReason))
    throw new UpstreamFailure('not_covered', `${label} gave no answer to this message`)
  const reply = withoutReasoning(content?.toWellFormed() ?? '')
  if (reply.trim() === '') throw new UpstreamFailure('not_covered', `${label} gave an empty answer`)
  return { reply, model: parsed.data.model ?? model, finishReason, usage: usageOf(parsed.data) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message is dropped, because it quotes the provider.
    return undefined
  }
}

function usageOf({ usage }: z.infer<typeof completion>): ChatReply['usage'] {
  const promptTokens = usage?.prompt_tokens ?? null
  const completionTokens = usage?.completion_tokens ?? null
  const sum = promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens
  return { promptTokens, completionTokens, totalTokens: usage?.total_tokens ?? sum }
}
