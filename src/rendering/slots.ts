import { once } from 'node:events'

/** A counting semaphore: jobs beyond its number wait, and enter in order of arrival. */
export interface Slots {
  /**
   * Resolves to a function that leaves the slot; a second call of it has no effect. Rejects if the signal is aborted
   * first.
   */
  enter(signal: AbortSignal): Promise<() => void>
}

export function createSlots(max: number): Slots {
  // One promise per slot in use. It resolves when the slot is left.
  const taken = new Set<Promise<void>>()
  return {
    async enter(signal) {
      signal.throwIfAborted()
      const entered = new AbortController()
      const aborted = once(signal, 'abort', { signal: entered.signal }).catch(() => undefined)
      while (taken.size >= max) {
        await Promise.race([...taken, aborted])
        signal.throwIfAborted()
      }
      entered.abort()
      const slot = Promise.withResolvers<void>()
      taken.add(slot.promise)
      return () => {
        taken.delete(slot.promise)
        slot.resolve()
      }
    },
  }
}
