import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { readDuration } from './duration.ts'
import { UsageProblem, usageExitCode } from './usageProblem.ts'

const everyMinMs = 10_000
const everyMaxMs = 7 * 86_400_000

/**
 * Runs the work once, or again after each duration until the command is interrupted. A run that was used wrongly ends the
 * schedule; one that failed for another reason is repeated at its next time.
 */
export async function runOnSchedule(
  deps: CommandDeps,
  every: string | undefined,
  work: () => Promise<number>,
): Promise<number> {
  if (every === undefined) return work()
  const everyMs = readInterval(every)
  if (everyMs === undefined) {
    deps.stderr.write(`--every: must be a duration from 10s to 7d, such as 1h (got ${every})\n`)
    return usageExitCode
  }
  const { clock = systemClock, interrupted } = deps
  while (!interrupted.aborted) {
    const code = await work()
    if (code === usageExitCode) return code
    await clock.sleep(everyMs, interrupted).catch((error: unknown) => {
      if (!interrupted.aborted) throw new Fault('the schedule stopped', { cause: error, retryable: true })
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
