import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface LedgerHealth extends Repeated {
  /** Undefined while every acknowledged commit is durable (I27); paid routes close otherwise. */
  problem(): string | undefined
}

export interface LedgerHealthDeps extends RepeatDeps {
  readonly findDurabilityProblem: () => Promise<string | undefined>
}

// A standby that was promoted by mistake, or a setting changed at run time, is detected within a minute; a database
// that returns is detected at once.
const everyMs = 5_000

/** Resolves after the first check, so that no payment is accepted before it. */
export async function startLedgerHealth(deps: LedgerHealthDeps): Promise<LedgerHealth> {
  let problem = await deps.findDurabilityProblem()
  const task = repeat(deps, {
    name: 'ledger health',
    everyMs,
    async run() {
      const found = await deps.findDurabilityProblem()
      if (found !== problem) deps.log.warn({ event: 'ledger_health_changed', problem: found ?? 'none' })
      problem = found
    },
  })
  return { problem: () => problem, stop: () => task.stop() }
}
