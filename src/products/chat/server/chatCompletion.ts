import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { parseJson } from '@tollbook/core/json'
import type { ChatEnd, ChatReply, ChatUsage } from './chatRequest.ts'
import { eventData } from './eventStream.ts'
import { unlessSilent } from '../../../outbound/unlessSilent.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'

/*
 * Answers of `POST /chat/completions`, whole and streamed. Messages of failures never quote the server: some servers quote
 * the key that they were sent.
 */

/** The server that answers, as far as reading needs it. */
export interface AnsweringServer {
  readonly label: string
  /** The model that was asked. */
  readonly model: string
}

const count = z.int().min(0).nullish().catch(null)
const usage = z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).nullish().catch(null)
const model = z.string().min(1).max(200).optional().catch(undefined)
/**
 * A text, or parts whose texts are the reply. Servers put the reasoning of a model into parts of another type (Mistral:
 * `thinking`), or into fields that no schema here has (`reasoning_content`, `reasoning`).
 */
const content = z.union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))]).nullish()
const completion = z.object({
  error: z.unknown().optional(),
  model,
  choices: z
    .array(
      z.object({
        error: z.unknown().optional(),
        message: z.object({ content, refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage,
})

// Reasons that end a complete answer. Some servers leave the reason out.
const finished: ReadonlySet<string> = new Set(['stop', 'length', 'unknown'])

/** Throws `UpstreamFailure` for anything but a complete reply. A refusal of the model is `not_covered`. */
export function readCompletion(
  server: AnsweringServer,
  { text, isJson }: { text: string; isJson: boolean },
): ChatReply {
  const { label } = server
  const parsed = completion.safeParse(parseJson(text))
  const [choice] = parsed.data?.choices ?? []
  if (!parsed.success || choice === undefined)
    throw new UpstreamFailure('bad_payload', `${label} sent something other than a chat completion`)
  // OpenRouter reports failures of the servers behind it under 200.
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
  return { reply, model: parsed.data.model ?? server.model, finishReason, usage: usageOf(parsed.data.usage) }
}

function textOf(written: z.infer<typeof content>): string {
  if (!Array.isArray(written)) return written ?? ''
  return written.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('')
}

function isJsonObject(text: string): boolean {
  const value = parseJson(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const chunk = z.object({
  error: z.unknown().optional(),
  model,
  choices: z
    .array(
      z.object({
        error: z.unknown().optional(),
        // Only the named fields are sold. The others, such as `reasoning_content`, show that the model works.
        delta: z.looseObject({ content, refusal: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage,
})

type Chunk = z.infer<typeof chunk>

/** Limits of the time that a server may be silent. */
export interface SilenceLimits {
  readonly clock: Clock
  /** Before the first text: some models reason before it and send nothing. */
  readonly timeoutMs: number
  /** After the first text. */
  readonly silentMsMax: number
}

/** The texts of a streamed answer. Throws when it breaks off, falls silent, is refused or has no text. */
export async function* readStream(
  server: AnsweringServer,
  { body, clock, timeoutMs, silentMsMax }: { readonly body: AsyncIterable<Uint8Array> } & SilenceLimits,
): AsyncGenerator<string, ChatEnd, void> {
  const { label } = server
  // Joins a surrogate pair that the server splits, and replaces lone halves.
  const decoder = new TextDecoder('utf-16le', { ignoreBOM: true })
  const end = { model: server.model, finishReason: undefined as string | undefined, usage: usageOf(undefined) }
  let held = ''
  let [hasText, isSilent, isRefused] = [false, false, false]
  const limitMs = () => (hasText ? silentMsMax : timeoutMs)
  const onSilent = () => void (isSilent = true)
  for await (const read of unlessSilent(chunksOf(label, body), { clock, limitMs, isProgress, onSilent })) {
    if (read === 'done') {
      end.finishReason ??= 'unknown'
      break
    }
    if (read.model !== undefined) end.model = read.model
    if (read.usage !== null && read.usage !== undefined) end.usage = usageOf(read.usage)
    const [choice] = read.choices
    end.finishReason ??= choice?.finish_reason ?? undefined
    isRefused ||= (choice?.delta?.refusal ?? '') !== ''
    held += decoder.decode(Buffer.from(textOf(choice?.delta?.content), 'utf16le'), { stream: true })
    // White space alone does not begin a reply: until it has a text, the next server can be asked.
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

/** Chunks of a chat, then `done`, after which some servers leave the connection open. */
async function* chunksOf(label: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk | 'done'> {
  for await (const data of eventData(body)) yield data.trim() === '[DONE]' ? 'done' : readChunk(label, data)
}

/** Whether the model wrote something: text or parts, in a field of any name. Some servers send empty chunks meanwhile. */
function isProgress(read: Chunk | 'done'): boolean {
  if (read === 'done') return true
  const written = read.choices.flatMap(({ delta }) => Object.entries(delta ?? {}))
  return written.some(
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

function usageOf(given: z.infer<typeof usage>): ChatUsage {
  const promptTokens = given?.prompt_tokens ?? null
  const completionTokens = given?.completion_tokens ?? null
  const sum = promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens
  return { promptTokens, completionTokens, totalTokens: given?.total_tokens ?? sum }
}
