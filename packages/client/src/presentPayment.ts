import { assertNever } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { PayerFault } from './errorCode.ts'
import {
  type AnswerVerdict,
  isStreamFor,
  judgeAnswer,
  type PresentedProof,
  readLastAnswer,
  type WholeAnswer,
} from './judgeAnswer.ts'
import { paidRequestInit } from './payableRequest.ts'
import { type LastAnswer, PaymentRefused, PaymentUnresolved, PaymentUnspent } from './paymentError.ts'
import type { PaymentProgress } from './paymentProgress.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { readBody } from './readBody.ts'
import type { Fetch } from './solanaRpc.ts'
import { withinTime } from './timeLimit.ts'

/** Limits of the attempts of one purchase. */
export interface RetryLimits {
  /**
   * Maximum number of attempts. An attempt does not count if the answer is "in progress" and states a pause of a second
   * or more.
   */
  readonly attemptsMax: number
  readonly attemptTimeoutMs: number
  /** Maximum time of all attempts, from the first presentation of the proof. */
  readonly totalTimeMs: number
}

/**
 * Default limits. An attempt may take twice the service's default handler timeout of 30 s. All attempts end well before
 * the proof of a landed payment expires after 10 minutes.
 */
export const defaultRetryLimits: RetryLimits = { attemptsMax: 10, attemptTimeoutMs: 60_000, totalTimeMs: 180_000 }

export interface PresentDeps {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly retry: RetryLimits
  readonly onEvent: (event: PaymentProgress) => void | Promise<void>
}

export interface Presentation {
  readonly payment: PendingPayment
  readonly confirmed: boolean
  readonly signal: AbortSignal
}

/** Each attempt has the same proof and key, so that the service recognises one payment and one request. */
export async function presentPayment(deps: PresentDeps, presentation: Presentation): Promise<Response> {
  const { payment, confirmed } = presentation
  const deadlineMs = deps.clock.monotonicMs() + deps.retry.totalTimeMs
  let last: Attempt = lostAttempt(undefined)
  for (let attempt = 1, attemptsLeft = deps.retry.attemptsMax; attemptsLeft > 0; attempt++) {
    if (attempt > 1 && !(await waitAfter(deps, presentation, { attempt: attempt - 1, last, deadlineMs }))) break
    const answer = await askOnce(deps, presentation, deadlineMs)
    if (answer instanceof Response) {
      await deps.onEvent({ kind: 'delivered', payment, attempts: attempt })
      return answer
    }
    last = 'lost' in answer ? lostAttempt(answer.lost) : answeredAttempt(answer, { ...payment, confirmed })
    if (last.verdict.kind === 'delivered' && !('lost' in answer)) {
      await deps.onEvent({ kind: 'delivered', payment, attempts: attempt })
      return rebuildResponse(answer)
    }
    if (last.verdict.kind !== 'again') break
    if (!isBeingServed(last)) attemptsLeft--
  }
  throw errorOf(payment, last)
}

interface Attempt {
  readonly verdict: AnswerVerdict
  readonly lastAnswer?: LastAnswer
  readonly cause?: unknown
}

// Maximum bytes of one answer, because it is held in memory.
const answerBytesMax = 16 * 1024 * 1024

/**
 * Sends the request once. If the connection breaks inside the body, the answer counts as lost. A streamed answer is
 * returned before its body, so its reader gets the error.
 */
async function askOnce(
  { fetch, clock, retry }: PresentDeps,
  { payment, signal }: Presentation,
  deadlineMs: number,
): Promise<WholeAnswer | Response | { readonly lost: unknown }> {
  const timeoutMs = Math.max(1, Math.min(retry.attemptTimeoutMs, deadlineMs - clock.monotonicMs()))
  try {
    return await withinTime({ clock, timeoutMs, signal }, async (signal) => {
      const response = await fetch(payment.request.url, { ...paidRequestInit(payment), signal })
      if (isStreamFor(payment, response)) return response
      return { status: response.status, headers: response.headers, bytes: await readBody(response, answerBytesMax) }
    })
  } catch (error) {
    // Rethrow if the caller aborted the request: the answer is not lost.
    signal.throwIfAborted()
    return { lost: error }
  }
}

interface EndedAttempt {
  readonly attempt: number
  readonly last: Attempt
  readonly deadlineMs: number
}

async function waitAfter(
  { clock, onEvent }: PresentDeps,
  { payment, signal }: Presentation,
  { attempt, last, deadlineMs }: EndedAttempt,
): Promise<boolean> {
  const delayMs = retryAfterMsOf(last) ?? backOffMs(attempt)
  if (clock.monotonicMs() + delayMs >= deadlineMs) return false
  await onEvent({ kind: 'waiting', payment, attempt, delayMs, lastAnswer: last.lastAnswer })
  await clock.sleep(delayMs, signal)
  return true
}

function retryAfterMsOf({ verdict }: Attempt): number | undefined {
  return verdict.kind === 'again' ? verdict.retryAfterMs : undefined
}

// Shortest `retry-after` for which an attempt is not counted. With a shorter pause, a server could make clients retry
// without limit.
const servedPauseMinMs = 1_000

/**
 * True if the service still serves another request with this proof, and states a pause of a second or more. The attempt
 * is not counted, because only waiting helps.
 */
function isBeingServed(attempt: Attempt): boolean {
  const pauseMs = retryAfterMsOf(attempt)
  return attempt.lastAnswer?.code === 'PAYMENT_IN_PROGRESS' && pauseMs !== undefined && pauseMs >= servedPauseMinMs
}

function lostAttempt(cause: unknown): Attempt {
  // Do not retry an answer that is too long: the next answer would be too long as well.
  if (cause instanceof PayerFault && !cause.retryable)
    return { verdict: { kind: 'unclear', why: cause.message }, cause }
  return { verdict: { kind: 'again', unspent: false, retryAfterMs: undefined }, cause }
}

function answeredAttempt(answer: WholeAnswer, proof: PresentedProof): Attempt {
  return { verdict: judgeAnswer(answer, proof), lastAnswer: readLastAnswer(answer) }
}

const backOffFirstMs = 500
const backOffMostMs = 8_000

function backOffMs(attempt: number): number {
  return Math.min(backOffFirstMs * 2 ** (attempt - 1), backOffMostMs)
}

function errorOf(payment: PendingPayment, { verdict, lastAnswer, cause }: Attempt): Error {
  const parts = { payment, lastAnswer, cause }
  switch (verdict.kind) {
    case 'refused':
      return new PaymentRefused(verdict.reason, parts)
    case 'unspent':
      return new PaymentUnspent(parts)
    case 'again':
      return verdict.unspent ? new PaymentUnspent(parts) : new PaymentUnresolved('all tries are used up', parts)
    case 'unclear':
      return new PaymentUnresolved(verdict.why, parts)
    case 'delivered':
      return new PaymentUnresolved('the answer was lost', parts)
    default:
      return assertNever(verdict)
  }
}

function rebuildResponse({ status, headers, bytes }: WholeAnswer): Response {
  // Pass null, because the constructor throws if a response with this status has any body, even an empty one.
  const isBodiless = status === 204 || status === 205
  return new Response(isBodiless ? null : bytes, { status, headers: plainHeaders(headers) })
}

/** Drops transfer headers, because they describe the bytes before `fetch` decoded them. */
export function plainHeaders(headers: Headers): Headers {
  const plain = new Headers(headers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) plain.delete(name)
  return plain
}
