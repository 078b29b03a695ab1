import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'

export interface RepeatDeps {
  readonly clock: Clock
  readonly log: Log
}

export interface Task {
  readonly name: string
  readonly everyMs: number
  run(): Promise<void>
}

export interface Repeated {
  /** Resolves when a run in progress has ended. */
  stop(): Promise<void>
}

/** Runs a task again and again, one run at a time, until stopped. A run that fails is logged, and the next one comes. */
export function repeat({ clock, log }: RepeatDeps, task: Task): Repeated {
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await clock.sleep(task.everyMs, stopping.signal)
        await task.run()
      } catch (error) {
        if (!stopping.signal.aborted) log.warn({ event: 'job_failed', job: task.name, error: describeError(error) })
      }
    }
  })()
  return {
    stop() {
      stopping.abort()
      return running
    },
  }
}
