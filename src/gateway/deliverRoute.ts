import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { isWellFormed, type Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { bounded, readBytes } from '../outbound/readBytes.ts'
import { untilSilent } from '../outbound/untilSilent.ts'
import type { Job, Meta, MeteredJob, Outcome } from '../product/product.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { usageOf } from './answerUsage.ts'
import type { CheckedRoute } from './checkRoute.ts'
import type { Parameters } from './checkParameters.ts'
import { failureOf } from './failureOf.ts'
import { hasEnd, isEventStream, isJson, judgeEnd, judgeHead, judgeJson } from './judgeAnswer.ts'
import { countBytes, countedEvents, countReply, type EventCounter } from './meteredStream.ts'
import type { RouteEntry } from './productsFile.ts'
import { requestFor } from './routeRequest.ts'
import { type LimitedOrder, limitTokens } from './tokenUse.ts'
import type { OpenAnswer, RouteRequest, UpstreamClient } from './upstreamClient.ts'
import type { UseUnit } from './usePrice.ts'

export interface RouteDeps {
  readonly clock: Clock
  readonly client: UpstreamClient
}

export interface RouteOrder {
  readonly order: Parameters
  readonly job: Job
}

/**
 * Delivers an order by a request to the upstream. A failure releases the payment, so that the caller can repeat the
 * order with the same proof.
 */
export async function deliverRoute(
  deps: RouteDeps,
  { route, schema, prices: { unit } }: CheckedRoute,
  { order, job }: RouteOrder,
): Promise<Outcome> {
  const { clock, client } = deps
  const { metered } = job
  let answer: OpenAnswer | undefined
  try {
    const limited = metered === undefined || unit?.kind !== 'tokens' ? undefined : limitTokens(order, schema, metered)
    answer = await client.open(requestOf(client, route, { order: limited?.order ?? order, job }))
    const { response } = answer
    judgeHead(route, response, clock)
    const bytesMax = route.max_response ?? client.entry.max_response
    const reading = { ...deps, route, answer, bytesMax, unit, limited, metered }
    return isEventStream(route, response) ? await openStream(reading, job.signal) : await readWhole(reading)
  } catch (error) {
    return failureOf(answer === undefined ? error : (answer.end(error) ?? error))
  }
}

function requestOf({ entry }: UpstreamClient, route: RouteEntry, { order, job }: RouteOrder): RouteRequest {
  const { target, body: json } = requestFor(route, order)
  const body = json ?? job.body?.bytes
  const contentType = json === undefined ? job.body?.contentType : 'application/json'
  return {
    method: route.method,
    target,
    body,
    // `job.headers` has only the headers of the caller that the route lists in `forward.request`.
    headers: {
      ...sendable(Object.entries(job.headers ?? {})),
      accept: [...route.content_types, ...(route.stream === 'passthrough' ? ['text/event-stream'] : [])].join(', '),
      'x-tollbook-payer': job.payer,
      'x-tollbook-payment': job.payment,
      'x-request-id': job.requestId,
      // The key is the same for every attempt of a payment, so that the upstream can recognize a repeated request.
      'idempotency-key': job.payment,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    signal: job.signal,
    timeoutMs: route.timeout ?? entry.timeout,
    isIdempotent: route.idempotent,
  }
}

interface Reading extends RouteDeps {
  readonly route: RouteEntry
  readonly answer: OpenAnswer
  readonly bytesMax: number
  readonly unit: UseUnit | undefined
  readonly metered: MeteredJob | undefined
  /** Undefined unless the order pays for tokens by use. */
  readonly limited: LimitedOrder | undefined
}

async function readWhole({ clock, client, route, answer, bytesMax, unit, limited }: Reading): Promise<Outcome> {
  const { response } = answer
  const bytes = await readBytes(response, bytesMax)
  const data = isJson(response) ? parsedJson(bytes) : undefined
  if (data === undefined) judgeOther(route, response, bytes)
  else judgeJson(route, data)
  const counted = unit === undefined ? undefined : usageOf(unit, { bytes, data }, limited)
  const usage = counted === undefined ? {} : { usage: counted }
  const meta = metaOf(client, clock)
  const enveloped = route.answer === 'envelope' ? dataOf(bytes) : undefined
  // Record a success only after all checks, because an answer that cannot be sold is a failure of the upstream.
  answer.end()
  if (enveloped !== undefined) return { kind: 'delivered', data: enveloped, meta, ...usage }
  const headers = headersOf(route, response)
  return { kind: 'raw', contentType: contentTypeOf(response), bytes, headers, meta, ...usage }
}

// Bytes at the end of an answer in which `ends_with` is searched. `ends_with` has at most 100 characters, and white
// space may follow it.
const tailBytes = 1_024

/** Checks an answer that is not JSON. A length or a last chunk shows that such an answer is complete. */
function judgeOther(route: RouteEntry, response: IncomingMessage, bytes: Buffer): void {
  if (!hasEnd(response)) throw new UpstreamFailure('bad_payload', 'the answer has neither a length nor an end')
  if (route.success.json !== undefined) throw new UpstreamFailure('bad_payload', 'the answer is not JSON')
  judgeEnd(route, bytes.subarray(-tailBytes).toString('utf8'))
}

function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // Omit the cause, because the error of JSON.parse quotes the body.
    throw new UpstreamFailure('bad_payload', 'the answer is not valid JSON')
  }
}

/**
 * Reads the data of an enveloped answer. Throws for infinite numbers and lone surrogates, because such data has no
 * canonical JSON text.
 */
function dataOf(bytes: Uint8Array): Json {
  const data = z.json().safeParse(parsedJson(bytes))
  if (data.success && isWellFormed(data.data)) return data.data
  throw new UpstreamFailure('bad_payload', 'the answer has no canonical JSON')
}

function headersOf({ forward }: RouteEntry, { headers }: IncomingMessage): Readonly<Record<string, string>> {
  return sendable(forward.response.map((name) => [name, headers[name]] as const))
}

type Sendable = readonly (readonly [string, string | string[] | undefined])[]

/** Returns the headers whose values are printable ASCII of at most 1,024 characters, and drops the others. */
function sendable(headers: Sendable): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.flatMap(([name, value]) =>
      typeof value === 'string' && /^[\x20-\x7e]{0,1024}$/.test(value) ? [[name, value]] : [],
    ),
  )
}

export function metaOf({ name }: UpstreamClient, clock: Clock): Meta {
  return { source: name, asOf: isoTime(clock.nowMs()), cached: false }
}

function contentTypeOf({ headers }: IncomingMessage): string {
  const type = headers['content-type'] ?? ''
  return /^[\x20-\x7e]{1,200}$/.test(type) ? type : 'application/octet-stream'
}

/**
 * Opens a streamed answer and waits for the first bytes. An upstream that fails before these bytes is a failure, and
 * not a cut answer.
 */
async function openStream(reading: Reading, signal: AbortSignal): Promise<Outcome> {
  const { clock, client, answer } = reading
  const { response } = answer
  // Refuse a stream whose end is only marked by the closed connection, because a cut stream would look complete.
  if (response.headers['transfer-encoding'] === undefined && response.headers['content-length'] === undefined)
    throw new UpstreamFailure('bad_payload', 'the stream has neither a length nor an end')
  const chunks = bounded(response, reading.bytesMax)
  const first = await chunks.next()
  if (first.done === true) throw new UpstreamFailure('bad_payload', 'the stream is empty')
  answer.keepReading()
  // End the exchange on abort here, because no reader may ever start to read the stream.
  signal.addEventListener('abort', () => void answer.end(new UpstreamFailure('timeout', 'the stream was cut')), {
    once: true,
  })
  const rest = streamed(reading, first.value, chunks)
  const described = { kind: 'stream', contentType: contentTypeOf(response), meta: metaOf(client, clock) } as const
  const counter = counterOf(reading)
  if (counter === undefined) return { ...described, chunks: rest }
  return { ...described, chunks: countedEvents(rest, counter), usageSoFar: () => counter.usage() }
}

/** Returns the counter of a stream that is paid by its length. Undefined if the charge does not depend on the length. */
function counterOf({ unit, limited, metered }: Reading): EventCounter | undefined {
  if (limited !== undefined) return countReply(limited)
  return metered === undefined || unit?.kind !== 'bytes' ? undefined : countBytes(metered)
}

async function* streamed(
  { clock, client, route, answer }: Reading,
  first: Uint8Array,
  chunks: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const { name, entry } = client
  let tail = Buffer.from(first).subarray(-tailBytes)
  try {
    yield first
    const heard = untilSilent(chunks, {
      clock,
      limitMs: () => entry.silence,
      isProgress: () => true,
      onSilent() {
        throw new UpstreamFailure('timeout', `${name} was silent for ${entry.silence} ms`)
      },
    })
    for await (const chunk of heard) {
      tail = Buffer.concat([tail, chunk]).subarray(-tailBytes)
      yield chunk
    }
    judgeEnd(route, tail.toString('utf8'))
    answer.end()
  } catch (error) {
    throw answer.end(error) ?? error
  } finally {
    // If the reader has stopped early, the upstream did not fail, so record a success.
    answer.end()
  }
}
