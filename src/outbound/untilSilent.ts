import type { Clock } from '@tollbook/core/clock'

export interface SilenceWatch<T> {
  readonly clock: Clock
  /** Maximum time without progress that applies now. */
  limitMs(): number
  isProgress(item: T): boolean
  onSilent(): void
}

/**
 * Ends and calls `onSilent` if the source makes no progress for too long. Only the time in which the reader waits is
 * counted. The source is not closed.
 */
export async function* untilSilent<T>(source: AsyncGenerator<T>, watch: SilenceWatch<T>): AsyncGenerator<T> {
  const { clock } = watch
  let silentMs = 0
  let askedAtMs = clock.monotonicMs()
  const next = () => waitWithin(clock, watch.limitMs() - silentMs, source.next())
  let step = await next()
  while (step !== undefined && step.done !== true) {
    silentMs = watch.isProgress(step.value) ? 0 : silentMs + clock.monotonicMs() - askedAtMs
    yield step.value
    askedAtMs = clock.monotonicMs()
    step = await next()
  }
  if (step === undefined) watch.onSilent()
}

/** Undefined if the time limit ends first. */
export async function waitWithin<T>(clock: Clock, limitMs: number, reading: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController()
  const late = clock.sleep(Math.max(0, limitMs), ended.signal).catch(() => undefined)
  // The result is no longer used after the time-out, so its failure is ignored.
  reading.catch(() => undefined)
  try {
    return (await Promise.race([reading, late])) ?? undefined
  } finally {
    ended.abort()
  }
}
