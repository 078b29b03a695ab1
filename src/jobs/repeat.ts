import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'

export interface RepeatDeps {
  readonly clock: Clock
  readonly log: Log
}

/** `everyMs` is the pause between two runs, which never overlap. */
export interface Task {
  readonly name: string
  readonly everyMs: number
  /** False if another instance holds the lease of this work. */
  run(): Promise<unknown>
}

export interface Repeated {
  /** Resolves when the current run has ended. */
  stop(): Promise<void>
}

// Maximum pause of an instance without the lease. If the leader fails, another instance takes over within 15 s.
const notElectedMs = 5_000

/** Repeats the task until it is stopped. Logs a failed run and continues, so that one failure does not end the job. */
export function repeat({ clock, log }: RepeatDeps, task: Task): Repeated {
  const stopping = new AbortController()
  const running = (async () => {
    let waitMs = task.everyMs
    while (!stopping.signal.aborted) {
      try {
        await clock.sleep(waitMs, stopping.signal)
        waitMs = task.everyMs
        if ((await task.run()) === false) waitMs = Math.min(waitMs, notElectedMs)
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

/** Runs each item in turn, even after a failure, so that one item cannot block the others. Throws the first failure. */
export async function eachInTurn<Item>(items: readonly Item[], run: (item: Item) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (const item of items) await run(item).catch((error: unknown) => void failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** Stops all jobs. If a job fails to stop, the others still stop, and the failures are thrown. */
export async function stopAll(jobs: readonly Repeated[]): Promise<void> {
  const ended = await Promise.allSettled(jobs.map((job) => job.stop()))
  const failures = ended.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []))
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} jobs did not stop`)
}
