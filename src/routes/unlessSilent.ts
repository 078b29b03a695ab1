import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import type { FreeAnswer } from '../transport/freeRoute.ts'

interface Silence {
  readonly log: Log
  readonly event: string
  readonly error?: string
}

/**
 * Returns the answer of `serve`. If `serve` throws a `Fault`, for example because the ledger or the chain does not
 * answer, returns a retryable 503.
 */
export async function unlessSilent(
  { log, event, error: message = 'the ledger did not answer; try again in 2 s' }: Silence,
  serve: () => Promise<FreeAnswer>,
): Promise<FreeAnswer> {
  try {
    return await serve()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    log.warn({ event, error: describeError(error) })
    return unavailable(message)
  }
}

export function unavailable(error: string, seconds = 2): Answer {
  const body = JSON.stringify({ error, code: 'ENDPOINT_UNAVAILABLE' })
  return jsonAnswer(503, body, { 'retry-after': String(seconds) })
}

/** Creates an answer that caches must not store, because `data` is for one caller or changes at any time. */
export function privateData(data: object): Answer {
  return jsonAnswer(200, JSON.stringify({ success: true, data }), { 'cache-control': 'private, no-store' })
}
