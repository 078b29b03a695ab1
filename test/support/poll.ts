import { systemClock } from '@tollbook/core/clock'

export interface PollOptions<T> {
  /** Undefined: there is no result yet. */
  readonly probe: () => T | undefined | Promise<T | undefined>
  readonly timeoutMs: number
}

/** Probes until there is a result. Returns undefined at the deadline, so that the caller can report the missing result. */
export async function poll<T>(options: PollOptions<T>): Promise<T | undefined> {
  const deadlineMs = systemClock.monotonicMs() + options.timeoutMs
  let answer = await options.probe()
  for (let pauseMs = 5; answer === undefined && systemClock.monotonicMs() < deadlineMs; pauseMs *= 2) {
    await systemClock.sleep(Math.min(pauseMs, pauseMsMax))
    answer = await options.probe()
  }
  return answer
}

/**
 * The first pauses are short, because hundreds of tests wait in this way. Most probes are a request over HTTP, and one
 * every 5 ms takes half of a processor from other tests.
 */
const pauseMsMax = 25
