import { systemClock } from '@tollbook/core/clock'

export interface PollOptions<T> {
  /** Undefined means: not yet. */
  readonly probe: () => T | undefined | Promise<T | undefined>
  readonly timeoutMs: number
}

/** Asks until there is an answer; undefined when the time is over. The caller knows what that means and says so. */
export async function poll<T>(options: PollOptions<T>): Promise<T | undefined> {
  const deadlineMs = systemClock.monotonicMs() + options.timeoutMs
  let answer = await options.probe()
  while (answer === undefined && systemClock.monotonicMs() < deadlineMs) {
    await systemClock.sleep(pollEveryMs)
    answer = await options.probe()
  }
  return answer
}

/** A warm start takes 40 to 100 ms, so a coarser step would show in every start. */
const pollEveryMs = 5
