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
  while (answer === undefined && systemClock.monotonicMs() < deadlineMs) {
    await systemClock.sleep(pollEveryMs)
    answer = await options.probe()
  }
  return answer
}

/** Short, because hundreds of tests wait in this way. */
const pollEveryMs = 5
