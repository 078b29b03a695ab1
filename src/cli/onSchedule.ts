import { Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { readDuration } from './duration.ts'
import { exitCodeOf, usageExitCode } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

const everyMinMs = 10_000
const everyMaxMs = 7 * 86_400_000

/**
 * The interruption also ends a run in progress. A `UsageProblem` ends the schedule, because it would occur in every
 * run. After any other failure, the work runs again at the next interval.
 */
export async function runOnSchedule(
  deps: CommandDeps,
  every: string | undefined,
  work: (stopping: AbortSignal) => Promise<number>,
): Promise<number> {
  if (every === undefined) return work(deps.interrupted)
  return exitCodeOf(deps, () => repeat(deps, readInterval(every), work))
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

function readInterval(text: string): number {
  const everyMs = readDuration('--every', text, everyMaxMs)
  if (everyMs < everyMinMs) throw new UsageProblem('--every', `must be at least 10s (got ${text})`)
  return everyMs
}
