import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { readDuration } from './duration.ts'
import { UsageProblem, usageExitCode } from './usageProblem.ts'

const everyMinMs = 10_000
const everyMaxMs = 7 * 86_400_000

/**
 * Runs the work once, or again after each duration until the command is interrupted, which also ends a run in progress. A run
 * that was used wrongly ends the schedule; one that failed for another reason is repeated at its next time.
 */
export async function runOnSchedule(
  deps: CommandDeps,
  every: string | undefined,
  work: (stopping: AbortSignal) => Promise<number>,
): Promise<number> {
  if (every === undefined) return work(deps.interrupted)
  const everyMs = readInterval(every)
  if (everyMs === undefined) {
    deps.stderr.write(`--every: must be a duration from 10s to 7d, such as 1h (got ${every})\n`)
    return usageExitCode
  }
  const terminated = new AbortController()
  const terminate = () => terminated.abort()
  process.once('SIGTERM', terminate)
  try {
    return await repeat(deps, { everyMs, stopping: AbortSignal.any([deps.interrupted, terminated.signal]) }, work)
  } finally {
    process.off('SIGTERM', terminate)
  }
}

interface Schedule {
  readonly everyMs: number
  readonly stopping: AbortSignal
}

async function repeat(
  { clock = systemClock }: CommandDeps,
  { everyMs, stopping }: Schedule,
  work: (stopping: AbortSignal) => Promise<number>,
): Promise<number> {
  while (!stopping.aborted) {
    const code = await work(stopping)
    if (code === usageExitCode) return code
    if (stopping.aborted) break
    await clock.sleep(everyMs, stopping).catch((error: unknown) => {
      if (!stopping.aborted) throw new Fault('the schedule stopped', { cause: error, retryable: true })
    })
  }
  return 0
}

function readInterval(text: string): number | undefined {
  try {
    const everyMs = readDuration('--every', text, everyMaxMs)
    return everyMs >= everyMinMs ? everyMs : undefined
  } catch (error) {
    if (error instanceof UsageProblem) return undefined
    throw error
  }
}
