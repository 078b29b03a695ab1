import { assert } from '@tollbook/core/assert'

/** Places for jobs that run at once, and a bounded queue before them. */
export interface RenderQueue {
  waitingCount(): number
  /** `entered`: the job has a place until `leave` is called. `full` and `aborted`: it has none. */
  enter(signal: AbortSignal): Promise<Entry>
  leave(): void
}

export type Entry = 'entered' | 'full' | 'aborted'

export interface RenderQueueLimits {
  readonly placesMax: number
  readonly waitingMax: number
}

/** First come, first served. A caller who gives up leaves the queue at once. */
export function createRenderQueue({ placesMax, waitingMax }: RenderQueueLimits): RenderQueue {
  const waiting: ((entry: Entry) => void)[] = []
  let taken = 0
  return {
    waitingCount: () => waiting.length,
    enter(signal) {
      if (signal.aborted) return Promise.resolve('aborted')
      if (taken < placesMax) {
        taken++
        return Promise.resolve('entered')
      }
      if (waiting.length >= waitingMax) return Promise.resolve('full')
      return new Promise((resolve) => {
        const giveUp = () => {
          waiting.splice(waiting.indexOf(admit), 1)
          resolve('aborted')
        }
        const admit = (entry: Entry) => {
          signal.removeEventListener('abort', giveUp)
          resolve(entry)
        }
        signal.addEventListener('abort', giveUp, { once: true })
        waiting.push(admit)
      })
    },
    leave() {
      assert(taken > 0, 'a job that leaves had a place')
      const next = waiting.shift()
      // The place passes to the next job without being free in between.
      if (next === undefined) taken--
      else next('entered')
    },
  }
}
