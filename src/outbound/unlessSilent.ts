import type { Clock } from '@tollbook/core/clock'

export interface SilenceWatch<T> {
  readonly clock: Clock
  /** The longest wait for progress, as of now. */
  limitMs(): number
  isProgress(item: T): boolean
  onSilent(): void
}

/** The items of a source, which end when it makes no progress for too long. Only the time in which a reader waits counts. */
export async function* unlessSilent<T>(source: AsyncGenerator<T>, watch: SilenceWatch<T>): AsyncGenerator<T> {
  const { clock } = watch
  let silentMs = 0
  for (;;) {
    const askedAtMs = clock.monotonicMs()
    const step = await waitWithin(clock, watch.limitMs() - silentMs, source.next())
    if (step === undefined) watch.onSilent()
    if (step === undefined || step.done === true) return
    silentMs = watch.isProgress(step.value) ? 0 : silentMs + clock.monotonicMs() - askedAtMs
    yield step.value
  }
}

/** The result of the wait, or undefined when the time is up first. */
export async function waitWithin<T>(clock: Clock, limitMs: number, reading: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController()
  const late = clock.sleep(Math.max(0, limitMs), ended.signal).catch(() => undefined)
  // The result of a read that lost the race is not used, so its failure is ignored.
  reading.catch(() => undefined)
  try {
    return (await Promise.race([reading, late])) ?? undefined
  } finally {
    ended.abort()
  }
}
