/** A counting semaphore. When all permits are in use, further callers wait and enter in order of arrival. */
export interface Permits {
  /**
   * Waits for a permit. Resolves to a function that leaves the permit; calling it twice has no further effect. Rejects
   * if the signal is aborted first.
   */
  enter(signal: AbortSignal): Promise<() => void>
}

export function createPermits(max: number): Permits {
  let free = max
  const waiting = new Set<() => void>()
  const leave = (): void => {
    const [next] = waiting
    if (next === undefined) free++
    else next()
  }
  return {
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) free--
      else await turn(waiting, signal)
      let isLeft = false
      return () => {
        if (!isLeft) leave()
        isLeft = true
      }
    },
  }
}

function turn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      waiting.delete(enter)
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = (): void => {
      waiting.delete(enter)
      reject(signal.reason)
    }
    waiting.add(enter)
    signal.addEventListener('abort', giveUp, { once: true })
  })
}
