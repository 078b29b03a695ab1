import type { Clock } from '@tollbook/core/clock'
import type { VirtualTime } from './virtualTime.ts'

/** One instance of the service, from its start until it is killed. */
export interface Process {
  isAlive: boolean
  readonly died: Promise<void>
  readonly end: () => void
  clockOffMs: number
  /** No instance starts on nodes of another network: openChain refuses to. */
  isStarting: boolean
}

export function startProcess(): Process {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { isAlive: true, died: promise, end: resolve, clockOffMs: 0, isStarting: true }
}

export interface Times {
  readonly time: VirtualTime
  /** Moment at which a run starts. */
  readonly epochMs: number
}

/** The clock of an instance, which may be off. Nothing wakes in a process that is gone. */
export function clockOf(process: Process, { time, epochMs }: Times): Clock {
  return {
    nowMs: () => epochMs + time.nowMs() + process.clockOffMs,
    monotonicMs: () => time.nowMs(),
    sleep: (durationMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(new Error('aborted'))
          return
        }
        const cancel = time.after(durationMs, () => {
          if (process.isAlive) resolve()
        })
        signal?.addEventListener('abort', () => {
          cancel()
          reject(new Error('aborted'))
        })
      }),
  }
}
