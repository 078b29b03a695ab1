import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { parseJson } from '@tollbook/core/json'
import { type AnsweringServer, readCompletion, readStream } from './chatCompletion.ts'
import { type ChatEnd, type ChatReply, type ChatRequest, requestBody, type RequestForm } from './chatRequest.ts'
import { retryAfterMsOf } from '../../../outbound/retryAfter.ts'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { createUpstream, type Upstream, type UpstreamDeps } from '../../../outbound/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { findUrlProblem } from '../../../outbound/urlGuard.ts'

/** A server with the OpenAI chat protocol: OpenAI, OpenRouter, Ollama, llama.cpp, vLLM or LM Studio. */
export interface ChatServer {
  /** A unique label, such as `ai-1` for the server that is tried first. */
  readonly label: string
  /** The `source` in `meta`: the host name if the host is public, otherwise `self-hosted`. */
  readonly name: string
  /** The models that the operator offers. The first model is the default. */
  readonly models: readonly string[]
  /** Undefined: the server is available. */
  whyResting(): string | undefined
  /** Requests the list of models, which costs no tokens. Throws only `UpstreamFailure`. */
  probe(): Promise<void>
  /**
   * Requests a reply. Throws only `UpstreamFailure`, whose message never contains the server's text, because some
   * servers repeat the API key in their errors.
   */
  ask(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>
  /** Yields the texts of a reply while the model writes them. Throws like `ask`, and also if the server breaks off. */
  stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<string, ChatEnd, void>
}

export interface ChatServerOptions {
  readonly label: string
  readonly baseUrl: string
  readonly models: readonly [string, ...string[]]
  readonly apiKey: string | undefined
  readonly timeoutMs: number
  readonly silentMsMax: number
}

const pauseMinMs = 1_000
const pauseMs = 5_000
// Pause after a refusal. Requests would fail until the operator changes the key, the credits or the model.
const refusedRestMs = 30_000
// Enough for the longest configurable output: 32,768 tokens have about 150 kB, and a JSON escape may need six bytes for
// one byte of text.
const answerBytesMax = 1024 * 1024

interface ChatServerState {
  readonly clock: Clock
  readonly options: ChatServerOptions
  readonly upstream: Upstream
  limitName: RequestForm['limitName']
}

export function createChatServer(deps: UpstreamDeps, options: ChatServerOptions): ChatServer {
  const { label, baseUrl, models, apiKey, timeoutMs } = options
  const upstream = createUpstream(deps, {
    name: label,
    base: new URL(baseUrl),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    timeoutMs,
    bytesMax: answerBytesMax,
    // Do not retry: the server would charge a second time.
    triesMax: 1,
    readsFailures: true,
    pauseMinMs,
  })
  const state: ChatServerState = { clock: deps.clock, options, upstream, limitName: 'max_tokens' }
  return {
    label,
    name: publicNameOf(baseUrl),
    models,
    whyResting: upstream.whyResting,
    probe: () => probe(state),
    ask: (request, signal) => ask(state, request, signal),
    stream: (request, signal) => stream(state, request, signal),
  }
}

/**
 * Returns the name that callers see. A private host becomes `self-hosted`, so that callers do not see names of the
 * operator's network.
 */
function publicNameOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  // No public name has a single label, but a container such as `ollama` has.
  const isPublic = /[.:]/.test(hostname) && findUrlProblem(`https://${hostname}/`) === undefined
  return isPublic ? hostname : 'self-hosted'
}

const probeMs = 4_000

async function probe(state: ChatServerState): Promise<void> {
  const signal = AbortSignal.timeout(probeMs)
  await state.upstream.ask({ path: '/models', signal }, (reply) => {
    // Some servers have no list of models. Accept a 404 or 405 with a JSON body from them. A web page means a wrong
    // address or a login page.
    const hasNoList = reply.status === 404 || reply.status === 405
    if (!hasNoList && !(reply.status >= 200 && reply.status <= 299)) throw statusFailure(state, reply)
    if (parseJson(reply.text) === undefined)
      throw new UpstreamFailure('bad_payload', `${state.options.label} answered something other than JSON`)
  })
}

async function ask(state: ChatServerState, request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
  const sent = { limitName: state.limitName, isStreamed: false }
  const body = bodyOf(state, request, sent)
  const answered = await state.upstream.ask({ path, body, signal }, (reply) => {
    if (reply.status >= 200 && reply.status <= 299)
      return readCompletion(answering(state, request), { text: reply.text, isJson: request.isJson === true })
    return refuse(state, request, { sent, reply })
  })
  return answered === 'other limit name' ? ask(state, request, signal) : answered
}

async function* stream(
  state: ChatServerState,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<string, ChatEnd, void> {
  const sent = { limitName: state.limitName, isStreamed: true }
  const body = bodyOf(state, request, sent)
  const headers = { accept: 'text/event-stream' }
  const ended = yield* state.upstream.stream<string, ChatEnd | 'other limit name'>(
    { path, body, headers, signal },
    {
      read: (chunks) => readStream(answering(state, request), { body: chunks, clock: state.clock, ...state.options }),
      refuse: (reply) => refuse(state, request, { sent, reply }),
    },
  )
  return ended === 'other limit name' ? yield* stream(state, request, signal) : ended
}

const path = '/chat/completions'

type SentForm = Pick<RequestForm, 'limitName' | 'isStreamed'>

function bodyOf({ options: { models } }: ChatServerState, request: ChatRequest, sent: SentForm): string {
  return requestBody(request, { model: models[0], ...sent })
}

function answering({ options: { label, models } }: ChatServerState, request: ChatRequest): AnsweringServer {
  return { label, model: request.model ?? models[0] }
}

/**
 * Handles a refusal. If the server refused the name of the token limit, the caller repeats the request with the other
 * name. Throws for any other refusal.
 */
function refuse(
  state: ChatServerState,
  request: ChatRequest,
  { sent, reply }: { readonly sent: SentForm; readonly reply: Reply },
): 'other limit name' {
  if (refusesThisRequest(state, request, reply))
    throw new UpstreamFailure('not_covered', `${state.options.label} answered HTTP ${reply.status} to this request`)
  if (sent.limitName !== 'max_tokens' || !refusesLimitName(reply)) throw statusFailure(state, reply)
  state.limitName = 'max_completion_tokens'
  return 'other limit name'
}

// OpenRouter's error for a message that a model's moderation has flagged.
const moderation = z.object({ error: z.object({ metadata: z.object({ reasons: z.array(z.unknown()) }) }) })

/**
 * True if the refusal concerns only this request: a flagged message, or an additional model that the server lacks. The
 * server then stays in use for other requests. Otherwise one caller could block the server for all callers.
 */
function refusesThisRequest({ options: { models } }: ChatServerState, { model }: ChatRequest, reply: Reply): boolean {
  if (reply.status === 404) return model !== undefined && model !== models[0]
  return reply.status === 403 && moderation.safeParse(parseJson(reply.text)).success
}

const limitNameRefusal = z.object({ error: z.object({ param: z.literal('max_tokens') }) })

function refusesLimitName({ status, text }: Reply): boolean {
  return status === 400 && limitNameRefusal.safeParse(parseJson(text)).success
}

function statusFailure({ options: { label }, clock }: ChatServerState, { status, headers }: Reply): UpstreamFailure {
  const said = `${label} answered HTTP ${status}`
  if (status === 429) {
    const retryAfterMs = Math.max(retryAfterMsOf(headers.get('retry-after'), clock) ?? pauseMs, pauseMinMs)
    return new UpstreamFailure('rate_limited', said, { retryAfterMs })
  }
  if ([401, 402, 403, 404].includes(status)) return new UpstreamFailure('auth', said, { retryAfterMs: refusedRestMs })
  if (status === 408 || status === 504) return new UpstreamFailure('timeout', said)
  // The message is too long for the model, or the model rejects the message.
  if ([400, 413, 422].includes(status)) return new UpstreamFailure('not_covered', said)
  return new UpstreamFailure(status < 500 ? 'bad_payload' : 'upstream', said)
}
