/** A number of things at once; who comes later waits, in the order of arrival. */
export interface Slots {
  /** Resolves to a function that leaves the slot; calling it again has no effect. Rejects when the signal is aborted first. */
  enter(signal: AbortSignal): Promise<() => void>
}

interface Waiting {
  readonly admit: () => void
}

/** A counting semaphore: waiting jobs are admitted in the order of their arrival. */
export function createSlots(max: number): Slots {
  let taken = 0
  const waiting = new Set<Waiting>()
  const admitNext = (): void => {
    const [next] = waiting
    if (next === undefined || taken >= max) return
    waiting.delete(next)
    taken++
    next.admit()
  }
  const leaveOnce = (): (() => void) => {
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      taken--
      admitNext()
    }
  }
  return {
    async enter(signal) {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        const giveUp = (): void => {
          waiting.delete(entry)
          reject(signal.reason)
        }
        const entry: Waiting = {
          admit() {
            signal.removeEventListener('abort', giveUp)
            resolve()
          },
        }
        signal.addEventListener('abort', giveUp, { once: true })
        waiting.add(entry)
        admitNext()
      })
      return leaveOnce()
    },
  }
}
