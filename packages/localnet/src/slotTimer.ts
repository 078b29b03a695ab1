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

/** Advances the chain by one slot per period. Slots missed by a sleeping machine are not added. */
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

/** Sleeps a whole period before each slot. After a slow slot, an interval would start the next slot at once. */
async function run({ slotMs, advance, clock, log }: SlotTimerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(slotMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    if (signal.aborted) return
    try {
      advance()
    } catch (error) {
      // Continue, because the cause may be temporary, such as a full disk. The chain does not advance until a tick
      // succeeds.
      log.error({ error: describeError(error) }, 'local_chain_slot_failed')
    }
  }
}
