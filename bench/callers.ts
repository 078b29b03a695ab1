import { systemClock } from '@tollbook/core/clock'

/** Calls per second of a number of callers, each of whom waits for its answer before it calls again. */
export async function callsPerSecond(callers: number, seconds: number, call: () => Promise<unknown>): Promise<number> {
  const startedAtMs = systemClock.monotonicMs()
  const endsAtMs = startedAtMs + seconds * 1000
  let calls = 0
  const work = async (): Promise<void> => {
    while (systemClock.monotonicMs() < endsAtMs) {
      await call()
      calls++
    }
  }
  await Promise.all(Array.from({ length: callers }, work))
  return calls / ((systemClock.monotonicMs() - startedAtMs) / 1000)
}
