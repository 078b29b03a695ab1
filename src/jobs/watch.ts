import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

/** A condition for selling, which a job checks repeatedly. */
export interface Watch extends Repeated {
  /** The problem in words for operators and callers. Undefined while the condition is met. */
  problem(): string | undefined
}

export interface Watched {
  readonly name: string
  readonly event: string
  /** `error` has details for the log only, because the problem is public. */
  find(): Promise<{ readonly problem: string | undefined; readonly error?: string }>
}

// Interval between checks, which are one cheap call each.
const everyMs = 5_000

/**
 * Repeats a check. Resolves after the first one, so that nothing is sold before it. A check that throws leaves the last
 * verdict unchanged.
 */
export async function startWatch(deps: RepeatDeps, { name, event, find }: Watched): Promise<Watch> {
  let problem: string | undefined
  async function look(): Promise<void> {
    const found = await find()
    if (found.problem !== problem) deps.log.warn({ event, ...found, problem: found.problem ?? 'none' })
    problem = found.problem
  }
  await look()
  const task = repeat(deps, { name, everyMs, run: look })
  return { problem: () => problem, stop: () => task.stop() }
}
