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

/** A slot each `slotMs`. A machine that slept makes up for nothing: its chain just has fewer slots. */
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

/** Sleeping, and not an interval, because a slot that takes long must not be followed by two at once. */
async function run({ slotMs, advance, clock, log }: SlotTimerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(slotMs, signal).catch(rethrowUnless(signal))
    if (signal.aborted) return
    try {
      advance()
    } catch (error) {
      // A full disk, say. The slot is tried again at the next tick; until then the chain stands still, and says so.
      log.error({ error: describeError(error) }, 'local_chain_slot_failed')
    }
  }
}

function rethrowUnless(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error
  }
}
