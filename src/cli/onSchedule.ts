import { Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { readDuration } from './duration.ts'
import { exitCodeOf, usageExitCode } from './runCommand.ts'

const interval = { minMs: 10_000, maxMs: 7 * 86_400_000 }

/**
 * Runs the work once, or at the interval `every`. With an interval, wrong usage ends the schedule, because it would
 * occur in every run. After a refusal or an outage, the work runs again. Ctrl-C and SIGTERM then abort `stopping`, so
 * that a long run can end early.
 */
export async function runOnSchedule(
  deps: CommandDeps,
  every: string | undefined,
  work: (stopping: AbortSignal) => Promise<number>,
): Promise<number> {
  if (every === undefined) return work(deps.interrupted)
  return exitCodeOf(deps, () => repeat(deps, readDuration('--every', every, interval), work))
}

async function repeat(
  { clock, interrupted }: CommandDeps,
  everyMs: number,
  work: (stopping: AbortSignal) => Promise<number>,
): Promise<number> {
  const terminated = new AbortController()
  const terminate = () => terminated.abort()
  // Docker stops a container by SIGTERM, and kills it ten seconds later, so the schedule must end by then.
  process.once('SIGTERM', terminate)
  const stopping = AbortSignal.any([interrupted, terminated.signal])
  try {
    while (!stopping.aborted) {
      const code = await work(stopping)
      if (code === usageExitCode) return code
      if (stopping.aborted) break
      await clock.sleep(everyMs, stopping).catch((error: unknown) => {
        if (!stopping.aborted) throw new Fault('the schedule stopped', { cause: error, retryable: true })
      })
    }
    return 0
  } finally {
    process.off('SIGTERM', terminate)
  }
}
