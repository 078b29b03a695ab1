import type { Clock } from '@tollbook/core/clock'
import { PayerFault } from './errorCode.ts'

export interface TimeLimit {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Stops waiting at the deadline even if the step ignores the signal. */
export async function withinTime<T>(limit: TimeLimit, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const finished = new AbortController()
  limit.clock.sleep(limit.timeoutMs, finished.signal).then(
    () =>
      over.abort(new PayerFault('SERVICE_UNAVAILABLE', `no answer within ${limit.timeoutMs} ms`, { retryable: true })),
    // Ignore the rejection, because it only means that the wait ended before the deadline and cancelled the timer.
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

export function rejectionOf(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: until })
  })
}
