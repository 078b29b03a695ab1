import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from './log.ts'

export interface SlotTimerOptions {
  readonly slotMs: number
  readonly advance: () => void
  readonly clock: Clock
  readonly log: Log
}

export interface SlotTimer {
  stop(): Promise<void>
}

/** Starts a slot every `slotMs`. After a machine has slept, missed slots are not made up for. */
export function startSlotTimer(options: SlotTimerOptions): SlotTimer {
  const stopped = new AbortController()
  const running = run(options, stopped.signal)
  return {
    stop: () => {
      stopped.abort()
      return running
    },
  }
}

/** Sleeps instead of using an interval, so that two slots at once do not follow a slow one. */
async function run({ slotMs, advance, clock, log }: SlotTimerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(slotMs, signal).catch(rethrowUnless(signal))
    if (signal.aborted) return
    try {
      advance()
    } catch (error) {
      // For example a full disk. The next tick tries the slot again, and until then the chain does not advance.
      log.error({ error: describeError(error) }, 'local_chain_slot_failed')
    }
  }
}

function rethrowUnless(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error
  }
}
