import { once } from 'node:events'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import type { Clock } from '@tollbook/core/clock'
import type { ErrorForm } from '../product/productFacts.ts'
import { describeError } from '@tollbook/core/fault'
import type { Context } from 'koa'
import { z } from 'zod'
import type { Log } from '../machine/log.ts'
import type { Answer, StreamedAnswer } from '../paywall/answer.ts'
import type { FreeAnswer } from './freeRoute.ts'
import { isNegotiable } from './requestHead.ts'
import { sendFile, sendPublicBody } from './sendConditionally.ts'

const forms = new WeakMap<object, ErrorForm>()

export function formErrors({ req }: Context, form: ErrorForm): void {
  forms.set(req, form)
}

export function send(context: Context, answer: FreeAnswer): void {
  const { status, headers, body } = inFormOf(context, answer)
  context.status = status
  context.set(headers)
  if (typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable) context.body = body
  else if ('coded' in body) sendPublicBody(context, body)
  else sendFile(context, body)
}

function inFormOf(context: Context, answer: FreeAnswer): FreeAnswer {
  const { status, headers, body } = answer
  const isError = status >= 400 && headers['content-type']?.startsWith('application/json') === true
  if (!isError || typeof body !== 'string') return answer
  const form = forms.get(context.req)
  if (form !== undefined) return { ...answer, body: formed(form, status, body) }
  return prefersProblem(context) ? problemAnswer({ ...answer, body }) : answer
}

const problemType = 'application/problem+json'

/** Formats an error as a problem document (RFC 9457). The usual members of an error are included too. */
const problemForm: ErrorForm = (status, body) => {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? '', status, detail: body['error'] ?? '', ...body }
}

export function prefersProblem(context: Pick<Context, 'accepts' | 'req'>): boolean {
  return isNegotiable(context, 'accept') && context.accepts('application/json', problemType) === problemType
}

export function problemAnswer({ status, headers, body }: Answer): Answer {
  return { status, headers: { ...headers, 'content-type': problemType }, body: formed(problemForm, status, body) }
}

const members = z.record(z.string(), z.json())

function formed(form: ErrorForm, status: number, body: string): string {
  return JSON.stringify(form(status, members.parse(JSON.parse(body))))
}

/**
 * Calls `done` when the answer is sent, and never if the connection ends first. The listener is added before the
 * listeners of Node, which release the socket.
 */
export function onceSent(context: Context, done: () => void): void {
  const { req, res } = context
  res.prependOnceListener('finish', () => {
    if (!req.socket.destroyed && res.errored === null) done()
  })
}

export interface StreamingDeps {
  readonly clock: Clock
  readonly log: Log
}

/**
 * Sends a streamed answer. Resolves when the answer is finished, even if the caller has left, because admission and
 * shutdown count the request until then. A failed answer ends the connection, so that no client takes the part for the
 * whole.
 */
export async function sendStream(deps: StreamingDeps, context: Context, answer: StreamedAnswer): Promise<void> {
  const response = context.res
  context.status = answer.status
  context.set(answer.headers)
  // Remove the header, because Node throws if a trailer is announced in HTTP/1.0, which has none. The caller can fetch
  // the receipt.
  if (context.req.httpVersionMinor === 0) context.remove('trailer')
  response.flushHeaders()
  // Koa answers an error until here, so that no caller waits for an answer that cannot start.
  context.respond = false
  const caller = followCaller(deps.clock, response, answer.callerWaitMaxMs)
  try {
    for await (const chunk of answer.chunks) {
      if (caller.hasLeft()) break
      if (!response.write(chunk)) await caller.untilItReads('drain')
    }
    if (caller.hasLeft()) return
    response.addTrailers(answer.trailers())
    response.end()
    await caller.untilItReads('finish')
  } catch (error) {
    deps.log.warn({ event: 'streamed_answer_cut', error: describeError(error) })
    tearDown(response)
  }
}

/**
 * Ends the connection of an incomplete answer. In HTTP/1.1, a missing last chunk shows that the answer is incomplete.
 * HTTP/1.0 has no chunks, so only a reset shows it.
 */
function tearDown(response: ServerResponse): void {
  if (response.req.httpVersionMinor === 0) response.socket?.resetAndDestroy()
  else response.destroy()
}

function followCaller(clock: Clock, response: ServerResponse, waitMaxMs: number) {
  const left = new AbortController()
  let waitedMs = 0
  response.once('close', () => left.abort('the connection is closed'))
  return {
    /** True if the caller has closed the connection, or has read too slowly. */
    hasLeft: () => left.signal.aborted || response.destroyed,
    /** Waits until the caller has read enough. Closes the connection when the wait time is used up. */
    async untilItReads(event: 'drain' | 'finish'): Promise<void> {
      const startedAtMs = clock.monotonicMs()
      const ended = new AbortController()
      const either = AbortSignal.any([left.signal, ended.signal])
      const read = once(response, event, { signal: either }).then(
        () => true,
        // The wait was aborted: the caller has left or the time is up.
        () => false,
      )
      const late = clock.sleep(Math.max(0, waitMaxMs - waitedMs), either).then(
        () => false,
        () => true,
      )
      const isReading = await Promise.race([read, late])
      ended.abort('the caller has read')
      waitedMs += clock.monotonicMs() - startedAtMs
      if (!isReading && !left.signal.aborted) tearDown(response)
    },
  }
}
