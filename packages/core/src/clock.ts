/** Source of time, so that a test can control it. */
export interface Clock {
  /** Returns the milliseconds since 1970-01-01T00:00:00Z. */
  nowMs(): number
  /** Returns milliseconds on a clock that never goes back. Only differences between two values are meaningful. */
  monotonicMs(): number
  /** Resolves after the duration. Rejects if the signal is aborted first; the signal's reason is the cause. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep,
}

function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortError(signal))
      return
    }
    const onAbort = (): void => {
      clearTimeout(timer)
      if (signal !== undefined) reject(abortError(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, durationMs)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Has the name and the message of the error with which Node's timers reject. */
function abortError(signal: AbortSignal): Error {
  return Object.assign(new Error('The operation was aborted', { cause: signal.reason }), { name: 'AbortError' })
}

/** Formats a time by ISO 8601 in UTC with milliseconds. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
