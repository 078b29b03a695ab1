import type { Clock } from '@tollbook/core/clock'
import { PayerFault } from './errorCode.ts'

/** A deadline and the caller's signal, whichever ends a step first. */
export interface TimeLimit {
  readonly clock: Clock
  readonly timeoutMs: number
  /** The caller's own signal to stop. */
  readonly signal: AbortSignal
}

/** Runs a step that listens to a signal. Stops waiting at the deadline even if the step does not listen. */
export async function withinTime<T>(limit: TimeLimit, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const finished = new AbortController()
  limit.clock.sleep(limit.timeoutMs, finished.signal).then(
    () =>
      over.abort(new PayerFault('SERVICE_UNAVAILABLE', `no answer within ${limit.timeoutMs} ms`, { retryable: true })),
    // The step ended first, and its timer with it.
    () => undefined,
  )
  const signal = AbortSignal.any([over.signal, limit.signal])
  try {
    signal.throwIfAborted()
    return await Promise.race([run(signal), rejectionOf(signal, finished.signal)])
  } finally {
    finished.abort()
  }
}

/** Rejects when the signal is aborted, unless `until` is aborted first. */
export function rejectionOf(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: until })
  })
}
