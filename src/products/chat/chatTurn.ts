import type { Clock } from '@tollbook/core/clock'
import type { ChatEnd, ChatReply, ChatRequest, ChatTurn } from './server/chatRequest.ts'
import type { ChatServer } from './server/chatServer.ts'
import { waitWithin } from '../../outbound/untilSilent.ts'
import { UpstreamFailure } from '../../product/upstreamFailure.ts'
import type { ModelPrices } from '../../pricing/modelPrices.ts'
import type { Failure, Job } from '../../product/product.ts'
import { createLiveness, type Liveness, type ProbedProvider } from '../../product/liveness.ts'
import type { ModelRules } from './chatFields.ts'

export interface ChatDeps {
  readonly clock: Clock
  readonly sampleUpstreams: boolean
  readonly isProbed: boolean
  /** Chat servers in order of preference. */
  readonly chatServers: readonly ChatServer[]
  readonly chatLimits: ChatLimits
}

export interface ChatLimits {
  /** Tokens that the price of one reply covers, unless the model has a separate limit. */
  readonly outputTokensMax: number
  readonly modelPrices: ModelPrices
  /** Maximum duration of a streamed reply. It is shorter than the time after which a stream counts as broken. */
  readonly streamMsMax: number
  /** Maximum pause within a streamed reply. After a longer pause the reply fails. */
  readonly silentMsMax: number
}

export interface Chat extends ChatDeps {
  readonly liveness: Liveness
}

export function createChat(deps: ChatDeps): Chat {
  return { ...deps, liveness: createLiveness(deps, deps.chatServers.map(probedServer)) }
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

/** Returns the models in the order of the servers. */
export function modelsOf({ chatServers }: Pick<ChatDeps, 'chatServers'>): readonly string[] {
  return [...new Set(chatServers.flatMap(({ models }) => models))]
}

export function rulesOf({ chatServers, chatLimits }: Pick<ChatDeps, 'chatServers' | 'chatLimits'>): ModelRules {
  const { modelPrices, outputTokensMax } = chatLimits
  return {
    models: modelsOf({ chatServers }),
    outputTokensMax: (model = '') => modelPrices.get(model)?.outputTokensMax ?? outputTokensMax,
  }
}

/** Returns the model as variant if the model has a separate price. Undefined: the model has the standard price. */
export function variantOf({ chatLimits }: Chat, model: string | undefined): string | undefined {
  return model !== undefined && chatLimits.modelPrices.has(model) ? model : undefined
}

/**
 * Returns the servers that may answer. Without a model, the caller pays the standard price, so servers whose default
 * model has a separate price are excluded.
 */
function serversOf({ chatServers, chatLimits }: Chat, model: string | undefined): readonly ChatServer[] {
  return chatServers.filter(({ models }) => {
    const [standard = ''] = models
    return model === undefined ? !chatLimits.modelPrices.has(standard) : models.includes(model)
  })
}

/**
 * Returns the reason in words for the caller. Without `model`, checks the default models. Undefined: a reply can be
 * sold.
 */
export function whyChatUnavailable(chat: Chat, model?: string): string | undefined {
  const { chatServers, liveness } = chat
  if (chatServers.length === 0) return 'AI chat is not set up on this server'
  if (!liveness.someAnswer()) return 'no language model answers at the moment'
  const isReady = (server: ChatServer) => liveness.answers(server.label) && server.whyResting() === undefined
  if (serversOf(chat, model).some(isReady)) return undefined
  return model === undefined || !chatServers.some(isReady)
    ? 'no language model can be asked at the moment'
    : `the model ${model} cannot be asked at the moment`
}

export function supplyOf({ chatServers, liveness }: Chat) {
  return {
    probes: chatServers.length === 0 ? [] : [liveness],
    providersAnswer: () => liveness.someAnswer(),
  }
}

/**
 * Returns the model and the output tokens that the price covers. Without a model in the order, the default model of the
 * first server that sells at the standard price answers. Null: no server does.
 */
export function coverageOf(chat: Chat, { model, tokensMax }: ChatTurn) {
  return {
    model: model ?? serversOf(chat, undefined)[0]?.models[0] ?? null,
    outputTokensMax: tokensMax ?? rulesOf(chat).outputTokensMax(model),
  }
}

type Answered<T> = { readonly kind: 'answered'; readonly answer: T; readonly source: string } | Failure

/** A streamed reply whose first part has arrived. */
export interface ReplyParts {
  readonly first: IteratorResult<string, ChatEnd>
  readonly rest: AsyncGenerator<string, ChatEnd, void>
  /** The requested model. The server may report another name at the end of the reply. */
  readonly model: string
  readonly label: string
  readonly charactersMax: number
  /** Stops this reply at the server, which would otherwise continue to generate billed tokens. */
  readonly stop: () => void
}

/**
 * Requests a whole reply. Cuts its text to the length that the price covers, because some servers ignore the token
 * limit.
 */
export async function askWhole(chat: Chat, request: ChatRequest, job: Job): Promise<Answered<ChatReply>> {
  const asking = { request, signal: job.signal }
  const answered = await askInTurn(chat, asking, (server) => server.ask(request, job.signal))
  if (answered.kind === 'failed') return answered
  return { ...answered, answer: cutReply(answered.answer, charactersMaxOf(request)) }
}

// Bound for servers that ignore the token limit. Tokens of known language models have at most 128 characters.
const charactersOfToken = 128

function charactersMaxOf({ tokensMax, charactersMax }: Pick<ChatRequest, 'tokensMax' | 'charactersMax'>): number {
  return charactersMax ?? tokensMax * charactersOfToken
}

function cutReply(reply: ChatReply, charactersMax: number): ChatReply {
  if (reply.reply.length <= charactersMax) return reply
  return { ...reply, reply: cutText(reply.reply, charactersMax), finishReason: 'length' }
}

/** Cuts the text. Drops the first half of a surrogate pair that the cut splits, because a lone half is not valid text. */
function cutText(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).replace(/[\ud800-\udbff]$/, '')
}

/**
 * Resolves with the first part of the reply. The caller must call `stop`; otherwise the server continues to generate
 * billed tokens.
 */
export function askStreamed(chat: Chat, request: ChatRequest, job: Job): Promise<Answered<ReplyParts>> {
  return askInTurn(chat, { request, signal: job.signal }, async (server) => {
    const stopped = new AbortController()
    const rest = server.stream(request, AbortSignal.any([job.signal, stopped.signal]))
    const first = await rest.next()
    const model = request.model ?? server.models[0] ?? server.label
    const stop = () => {
      stopped.abort()
      // Do not wait for the generator to end, because a server may hang.
      rest.return(cutOff(model)).catch(() => undefined)
    }
    job.signal.addEventListener('abort', stop, { once: true })
    return { first, rest, model, label: server.label, charactersMax: charactersMaxOf(request), stop }
  })
}

interface Asking {
  readonly request: ChatRequest
  readonly signal: AbortSignal
}

async function askInTurn<T>(
  chat: Chat,
  { request, signal }: Asking,
  ask: (server: ChatServer) => Promise<T>,
): Promise<Answered<T>> {
  const failures: UpstreamFailure[] = []
  for (const server of serversOf(chat, request.model)) {
    if (signal.aborted) break
    if (server.whyResting() !== undefined) continue
    try {
      const answer = await ask(server)
      chat.liveness.noteAnswer(server.label)
      return { kind: 'answered', answer, source: chat.sampleUpstreams ? 'sample:openai-compatible' : server.name }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      chat.liveness.noteFailure(server.label, error)
      failures.push(error)
    }
  }
  return failedOf(signal.aborted ? ['timeout'] : failures.map(({ kind }) => kind))
}

function failedOf(kinds: readonly UpstreamFailure['kind'][]): Failure {
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

/**
 * Yields the texts of a streamed reply, within the time limit and the paid tokens. A reply that reaches a limit ends
 * normally, with finish reason `length`, because a caller does not pay for a failed reply. No text is awaited after
 * `streamMsMax - silentMsMax`, so that a silent server fails before the time limit.
 */
export async function* textsOf(chat: Chat, parts: ReplyParts): AsyncGenerator<string, ChatEnd, void> {
  const { clock, liveness, chatLimits } = chat
  const { streamMsMax, silentMsMax } = chatLimits
  const { rest, label, model } = parts
  let spentMs = 0
  const next = async (): Promise<IteratorResult<string, ChatEnd>> => {
    if (spentMs >= streamMsMax - silentMsMax) return { done: true, value: cutOff(model) }
    const startedAtMs = clock.monotonicMs()
    const step = await waitWithin(clock, streamMsMax - spentMs, rest.next())
    spentMs += clock.monotonicMs() - startedAtMs
    return step ?? { done: true, value: cutOff(model) }
  }
  try {
    let leftCharacters = parts.charactersMax
    let step = parts.first
    for (; step.done !== true; step = await next()) {
      if (step.value.length > leftCharacters) {
        const last = cutText(step.value, leftCharacters)
        if (last !== '') yield last
        return cutOff(model)
      }
      leftCharacters -= step.value.length
      yield step.value
    }
    return step.value
  } catch (error) {
    if (error instanceof UpstreamFailure) liveness.noteFailure(label, error)
    throw error
  }
}

/**
 * Returns the end of a reply that was cut. The token counts are null, because the server did not report them before the
 * cut.
 */
export function cutOff(model: string): ChatEnd {
  return { model, finishReason: 'length', usage: { promptTokens: null, completionTokens: null, totalTokens: null } }
}
