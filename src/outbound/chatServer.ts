import OpenAI, { APIError } from 'openai'
import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import { type Breaker, breakerRestMs, createBreaker } from './breaker.ts'
import { readBytes, TooLong } from './readBytes.ts'
import { retryAfterMsOf } from './retryAfter.ts'
import { isVerdict, UpstreamFailure } from './upstreamFailure.ts'
import { findUrlProblem } from './urlGuard.ts'

/** One server of the OpenAI chat protocol: OpenAI, OpenRouter, Ollama, llama.cpp, vLLM, LM Studio. */
export interface ChatServer {
  /** As it stands in `meta.source`: its host if that is public. */
  readonly name: string
  /** Undefined when it can be asked now; otherwise why not. */
  whyResting(): string | undefined
  /** Throws only `UpstreamFailure`, and no word of the provider's is in it: some quote the key they were sent. */
  ask(message: string, signal: AbortSignal): Promise<ChatReply>
}

export interface ChatReply {
  readonly reply: string
  readonly model: string
  readonly finishReason: string
  /** Null where the server does not say: a number that we made up would look like one of its own. */
  readonly usage: {
    readonly promptTokens: number | null
    readonly completionTokens: number | null
    readonly totalTokens: number | null
  }
}

export interface ChatServerDeps {
  readonly clock: Clock
  readonly log: Log
  readonly version: string
  readonly contact: string
  readonly onCall: (call: { readonly upstream: string; readonly outcome: string }) => void
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
const pauseMaxMs = 15 * 60 * 1000
// The longest output that can be configured, 32,768 tokens, has some 150 kB, and escapes can make six bytes of one.
const answerBytesMax = 1024 * 1024

interface State extends ChatServerDeps {
  readonly options: ChatServerOptions
  readonly client: OpenAI
  readonly breaker: Breaker
  /** OpenAI's reasoning models know the limit under its new name only, most other servers under the old one only. */
  limitName: 'max_tokens' | 'max_completion_tokens'
}

export function createChatServer(deps: ChatServerDeps, options: ChatServerOptions): ChatServer {
  const { label, baseUrl } = options
  const breaker = createBreaker(deps.clock)
  const client = createClient(deps, options)
  const state: State = { ...deps, options, client, breaker, limitName: 'max_tokens' }
  return {
    name: publicNameOf(baseUrl),
    whyResting: () => (breaker.isOpen() ? `${label} is left alone for a while` : undefined),
    ask: (message, signal) => ask(state, message, signal),
  }
}

/** Everything that the package would read from the environment is given, so that nothing of it goes to another server. */
function createClient({ version, contact }: ChatServerDeps, options: ChatServerOptions): OpenAI {
  const { baseUrl, apiKey, timeoutMs } = options
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': `Tollbook/${version} (+${contact})`,
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  }
  return new OpenAI({
    baseURL: baseUrl,
    // The package insists on a key; what is sent is decided by `headers`.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: timeoutMs,
    fetch: (url, init) => fetchWhole(url, { ...init, headers }),
  })
}

/** Reads the body within the limits of time and size; the package's own time-out ends with the headers. */
async function fetchWhole(url: string | URL | Request, init: RequestInit): Promise<Response> {
  // A provider has no reason to send us elsewhere, and elsewhere might be inside.
  const response = await fetch(url, { ...init, redirect: 'error' })
  const bytes = await readBytes(response, answerBytesMax)
  const retryAfter = response.headers.get('retry-after')
  return new Response(bytes.length === 0 ? null : Uint8Array.from(bytes), {
    status: response.status,
    headers: { 'content-type': 'application/json', ...(retryAfter === null ? {} : { 'retry-after': retryAfter }) },
  })
}

/** A host inside the operator's network is nobody else's business. */
function publicNameOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  return findUrlProblem(`https://${hostname}/`) === undefined ? hostname : 'self-hosted'
}

async function ask(state: State, message: string, signal: AbortSignal): Promise<ChatReply> {
  const { breaker, log, onCall, options } = state
  const { label } = options
  if (breaker.isOpen()) {
    onCall({ upstream: label, outcome: 'resting' })
    throw new UpstreamFailure('resting', `${label} is left alone`)
  }
  breaker.enter()
  try {
    const answer = await complete(state, message, signal)
    if (breaker.succeeded()) log.info({ event: 'upstream_recovered', upstream: label })
    onCall({ upstream: label, outcome: 'answered' })
    return answer
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : unreachable(state, error)
    onCall({ upstream: label, outcome: failure.kind })
    learn(state, failure)
    throw failure
  }
}

function learn({ breaker, log, options: { label } }: State, failure: UpstreamFailure): void {
  const { kind, retryAfterMs } = failure
  if (retryAfterMs !== undefined) breaker.rest(Math.min(retryAfterMs, pauseMaxMs))
  log.info({ event: 'upstream_failed', upstream: label, kind, error: describeError(failure) })
  // What a caller's message brings about does not count, or one caller could close the shop for all.
  if (isVerdict(failure)) breaker.succeeded()
  else if (breaker.failed()) log.warn({ event: 'upstream_resting', upstream: label, restMs: breakerRestMs })
}

async function complete(state: State, message: string, signal: AbortSignal): Promise<ChatReply> {
  const { client, options, limitName } = state
  const limit = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)])
  const request = {
    model: options.model,
    messages: [{ role: 'user' as const, content: message }],
    [limitName]: options.outputTokensMax,
  }
  try {
    const response = await client.chat.completions.create(request, { signal: limit }).asResponse()
    return readReply(state, await response.text())
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error
    if (limit.aborted) throw new UpstreamFailure('timeout', `${options.label} did not answer in time`)
    if (!(error instanceof APIError) || error.status === undefined) throw unreachable(state, error)
    if (error.status !== 400 || error.param !== 'max_tokens' || limitName !== 'max_tokens')
      throw statusFailure(state, error)
    state.limitName = 'max_completion_tokens'
    return complete(state, message, signal)
  }
}

function unreachable({ options: { label } }: State, error: unknown): UpstreamFailure {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof TooLong) return new UpstreamFailure('bad_payload', `${label}: ${cause.message}`)
  // Only the code of the system: the message may quote an address with a password in it.
  const system = cause instanceof Error && cause.cause instanceof Error ? cause.cause : undefined
  const code = system !== undefined && 'code' in system ? String(system.code) : 'no connection'
  return new UpstreamFailure('upstream', `${label} cannot be reached: ${code}`)
}

function statusFailure(state: State, { status = 0, headers }: APIError): UpstreamFailure {
  const said = `${state.options.label} answered HTTP ${status}`
  if (status === 429) return new UpstreamFailure('rate_limited', said, { retryAfterMs: pauseOf(state, headers) })
  // Key, credits, a model that it does not have: the next caller would fare no better, so nobody else is asked to pay.
  if ([401, 402, 403, 404].includes(status)) return new UpstreamFailure('auth', said, { retryAfterMs: breakerRestMs })
  if (status === 408 || status === 504) return new UpstreamFailure('timeout', said)
  // The message is too long for the model, or not to its taste.
  if ([400, 413, 422].includes(status)) return new UpstreamFailure('not_covered', said)
  return new UpstreamFailure(status < 500 ? 'bad_payload' : 'upstream', said)
}

function pauseOf({ clock }: State, headers: Headers | undefined): number {
  const askedMs = retryAfterMsOf(headers, clock)
  return askedMs === undefined ? 5 * pauseMinMs : Math.max(askedMs, pauseMinMs)
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

// What ends an answer that is worth its price. Some servers leave the reason out.
const finished: ReadonlySet<string> = new Set(['stop', 'length', 'unknown'])

function readReply({ options: { label, model } }: State, text: string): ChatReply {
  const parsed = completion.safeParse(jsonOf(text))
  const [choice] = parsed.data?.choices ?? []
  if (!parsed.success || choice === undefined)
    throw new UpstreamFailure('bad_payload', `${label} sent what is no chat completion`)
  // OpenRouter tells the failures of the servers behind it under 200.
  if ((parsed.data.error ?? choice.error ?? undefined) !== undefined)
    throw new UpstreamFailure('upstream', `${label} answered with an error under HTTP 200`)
  const { content, refusal } = choice.message
  const finishReason = choice.finish_reason ?? 'unknown'
  if ((refusal ?? '') !== '' || !finished.has(finishReason))
    throw new UpstreamFailure('not_covered', `${label} gave no answer to this message`)
  if (content === undefined || content === null || content.trim() === '')
    throw new UpstreamFailure('not_covered', `${label} gave an empty answer`)
  return { reply: content.toWellFormed(), model: parsed.data.model ?? model, finishReason, usage: usageOf(parsed.data) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, and that is the provider's.
    return undefined
  }
}

function usageOf({ usage }: z.infer<typeof completion>): ChatReply['usage'] {
  const promptTokens = usage?.prompt_tokens ?? null
  const completionTokens = usage?.completion_tokens ?? null
  const sum = promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens
  return { promptTokens, completionTokens, totalTokens: usage?.total_tokens ?? sum }
}
