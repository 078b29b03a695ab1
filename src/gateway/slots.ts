import { UpstreamFailure } from '../product/upstreamFailure.ts'

/** Slots for requests at the same time. Requests beyond them wait in turn. */
export interface Slots {
  /** Resolves with a function that frees the slot. Throws `UpstreamFailure` when the signal ends the wait. */
  take(signal: AbortSignal): Promise<() => void>
}

export function createSlots(count: number): Slots {
  let free = count
  const waiting = new Set<() => void>()
  const leave = () => {
    const [next] = waiting
    if (next === undefined) free++
    else next()
  }
  return {
    take(signal) {
      if (free > 0) {
        free--
        return Promise.resolve(leave)
      }
      return new Promise((resolve, reject) => {
        const enter = () => {
          waiting.delete(enter)
          signal.removeEventListener('abort', giveUp)
          resolve(leave)
        }
        const giveUp = () => {
          waiting.delete(enter)
          reject(new UpstreamFailure('rate_limited', 'all requests that this API takes at the same time are in use'))
        }
        waiting.add(enter)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
  }
}
