import { type Clock, systemClock } from '@tollbook/core/clock'

// Pauses between attempts are shorter than this, time limits longer.
const limitsFromMs = 20_000

/** Real time, but a pause before the next attempt is over at once; a time limit is not. */
export const impatientClock: Clock = {
  ...systemClock,
  sleep: (durationMs, signal) => systemClock.sleep(durationMs < limitsFromMs ? 1 : durationMs, signal),
}
