import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { parseJson } from '@tollbook/core/json'
import type { ChatEnd, ChatReply, ChatUsage } from './chatRequest.ts'
import { eventData } from './eventStream.ts'
import { untilSilent } from '../../../outbound/untilSilent.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'

/*
 * Readers for answers of `POST /chat/completions`. Failure messages never quote the server, because some servers repeat
 * the API key in their errors.
 */

export interface AnsweringServer {
  readonly label: string
  /** The requested model, used if the answer does not contain a model name. */
  readonly model: string
}

// Some servers report zero for counts that they do not know. A reply and its messages have at least one token.
const count = z.int().min(1).nullish().catch(null)
const usage = z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).nullish().catch(null)
const isWellFormed = (text: string) => text.isWellFormed()
const model = z.string().min(1).max(200).refine(isWellFormed).optional().catch(undefined)
/**
 * A text, or a list of parts whose texts form the reply. These schemas ignore a model's reasoning, which servers send
 * in parts of another type or in other fields.
 */
const content = z.union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))]).nullish()
const written = { content, refusal: z.string().nullish() }
const reasons: ReadonlyMap<unknown, string | null> = new Map([
  // In unfinished chunks, versions of Ollama and SGLang send an empty reason, and of KoboldCpp the text `null`.
  ['', null],
  ['null', null],
  // TGI before 2.2, and Mistral at the end of the context of its model.
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['model_length', 'length'],
])
const reason = z
  .string()
  .nullish()
  .transform((text) => (reasons.has(text) ? reasons.get(text) : text))
const inChoice = { error: z.unknown().optional(), finish_reason: reason }
const inAnswer = { error: z.unknown().optional(), model, usage }
const completion = z.object({
  ...inAnswer,
  choices: z.array(z.object({ ...inChoice, message: z.object(written) })).min(1),
})

// Finish reasons of a complete answer. `unknown` stands for a missing reason, because some servers omit the reason.
const finished: ReadonlySet<string> = new Set(['stop', 'length', 'unknown'])

/**
 * Reads a reply. Throws `UpstreamFailure` for an answer that is not a complete reply. A refusal by the model is
 * `not_covered`.
 */
export function readCompletion(
  server: AnsweringServer,
  { text, isJson }: { text: string; isJson: boolean },
): ChatReply {
  const { label } = server
  const parsed = completion.safeParse(parseJson(text))
  const [choice] = parsed.data?.choices ?? []
  if (!parsed.success || choice === undefined)
    throw new UpstreamFailure('bad_payload', `${label} sent something other than a chat completion`)
  // OpenRouter reports failures of its upstream servers with status 200.
  if ((parsed.data.error ?? choice.error ?? undefined) !== undefined)
    throw new UpstreamFailure('upstream', `${label} answered with an error under HTTP 200`)
  const { refusal } = choice.message
  const finishReason = choice.finish_reason ?? 'unknown'
  if ((refusal ?? '') !== '' || !finished.has(finishReason))
    throw new UpstreamFailure('not_covered', `${label} gave no answer to this message`)
  const reply = textOf(choice.message.content).toWellFormed()
  if (reply.trim() === '') throw new UpstreamFailure('not_covered', `${label} gave an empty answer`)
  if (isJson && finishReason !== 'length' && !isJsonObject(reply))
    throw new UpstreamFailure('not_covered', `${label} gave an answer that is not a JSON object`)
  return { reply, model: parsed.data.model ?? server.model, finishReason, usage: readUsage(parsed.data.usage) }
}

function textOf(given: z.infer<typeof content>): string {
  if (!Array.isArray(given)) return given ?? ''
  return given.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('')
}

function isJsonObject(text: string): boolean {
  const value = parseJson(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Only the fields of `written` are sold. Other fields, such as `reasoning_content`, only prove that the model is still
// working.
const delta = z.looseObject(written).nullish()
// Some servers omit the choices of the chunk with the usage, or send null.
const choices = z
  .array(z.object({ ...inChoice, delta }))
  .nullish()
  .transform((given) => given ?? [])
const chunk = z.object({ ...inAnswer, choices })

type Chunk = z.infer<typeof chunk>

export interface SilenceLimits {
  readonly clock: Clock
  /** Limit before the first text. It is separate because some models reason first and send nothing meanwhile. */
  readonly timeoutMs: number
  /** Limit after the first text: the maximum pause between two texts. */
  readonly silentMsMax: number
}

/**
 * Yields the texts of a streamed reply. Throws if the answer is interrupted, refused or empty, or if the server falls
 * silent.
 */
export async function* readStream(
  server: AnsweringServer,
  { body, clock, timeoutMs, silentMsMax }: { readonly body: AsyncIterable<Uint8Array> } & SilenceLimits,
): AsyncGenerator<string, ChatEnd, void> {
  const { label } = server
  // The decoder joins a surrogate pair that the server splits between chunks, and replaces a lone half.
  const decoder = new TextDecoder('utf-16le', { ignoreBOM: true })
  const end = { model: server.model, finishReason: undefined as string | undefined, usage: readUsage(undefined) }
  let held = ''
  let [hasText, isSilent, isRefused] = [false, false, false]
  const limitMs = () => (hasText ? silentMsMax : timeoutMs)
  const onSilent = () => void (isSilent = true)
  for await (const read of untilSilent(chunksOf(label, body), { clock, limitMs, isProgress, onSilent })) {
    if (read === 'done') {
      end.finishReason ??= 'unknown'
      break
    }
    if (read.model !== undefined) end.model = read.model
    if (read.usage !== null && read.usage !== undefined) end.usage = readUsage(read.usage)
    const [choice] = read.choices
    end.finishReason ??= choice?.finish_reason ?? undefined
    isRefused ||= (choice?.delta?.refusal ?? '') !== ''
    held += decoder.decode(Buffer.from(textOf(choice?.delta?.content), 'utf16le'), { stream: true })
    // Ignore leading white space. Until the first visible text, another server can still be tried.
    hasText ||= held.trim() !== ''
    if (!hasText || held === '') continue
    yield held
    held = ''
  }
  const { finishReason } = end
  if (finishReason === undefined && isSilent) throw new UpstreamFailure('timeout', `${label} fell silent`)
  if (!hasText) throw new UpstreamFailure('not_covered', `${label} gave an empty answer`)
  const rest = decoder.decode()
  if (rest !== '') yield rest
  if (finishReason === undefined) throw new UpstreamFailure('upstream', `${label} broke off its answer`)
  if (isRefused || !finished.has(finishReason))
    throw new UpstreamFailure('not_covered', `${label} ended its answer without completing it`)
  return { ...end, finishReason }
}

/**
 * Yields the chunks of a stream, and `done` at `[DONE]`. The reader stops there, because some servers leave the
 * connection open after it.
 */
async function* chunksOf(label: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk | 'done'> {
  for await (const data of eventData(body)) yield data.trim() === '[DONE]' ? 'done' : readChunk(label, data)
}

/**
 * True if the chunk shows that the model works, such as by reasoning. Empty chunks do not count, because some servers
 * send them before any text.
 */
function isProgress(read: Chunk | 'done'): boolean {
  if (read === 'done') return true
  const fields = read.choices.flatMap((choice) => Object.entries(choice.delta ?? {}))
  return fields.some(
    ([name, value]) => name !== 'role' && (typeof value === 'string' || Array.isArray(value)) && value.length > 0,
  )
}

function readChunk(label: string, data: string): Chunk {
  const parsed = chunk.safeParse(parseJson(data))
  if (!parsed.success) throw new UpstreamFailure('bad_payload', `${label} sent something other than a chunk of a chat`)
  const failed = [parsed.data.error, ...parsed.data.choices.map(({ error }) => error)]
  if (failed.some((error) => error !== undefined && error !== null))
    throw new UpstreamFailure('upstream', `${label} reported an error within its answer`)
  return parsed.data
}

function readUsage(given: z.infer<typeof usage>): ChatUsage {
  const promptTokens = given?.prompt_tokens ?? null
  const completionTokens = given?.completion_tokens ?? null
  const sum = promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens
  return { promptTokens, completionTokens, totalTokens: given?.total_tokens ?? sum }
}
