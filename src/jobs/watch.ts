import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

/** A condition for selling, checked by a job. */
export interface Watch extends Repeated {
  /** Undefined while the condition holds. Otherwise the problem, in words for operators and callers. */
  problem(): string | undefined
}

export interface Watched {
  readonly name: string
  /** Name of the log line that says how the problem changed. */
  readonly event: string
  /** `error` has details for the log only. */
  find(): Promise<{ readonly problem: string | undefined; readonly error?: string }>
}

// A check is one cheap call. A failover is noticed in this time.
const everyMs = 5_000

/** Resolves after the first check, so that nothing is sold before it. A check that throws keeps the last verdict. */
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
