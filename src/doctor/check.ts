import type { Clock } from '@tollbook/core/clock'
import { describeError, errorText } from '@tollbook/core/fault'
import type { Chain } from '../chain/openChain.ts'
import type { ServiceConfig } from '../config.ts'
import type { Log } from '../machine/log.ts'
import type { Database } from '../store/database.ts'

/** A configured service, and its database opened with its login. */
export interface Installation {
  readonly config: ServiceConfig
  readonly database: Database
  /** Returns the chain. The first check that needs the chain opens it for all checks. */
  readonly chain: () => Promise<Chain>
  readonly clock: Clock
  readonly log: Log
}

/**
 * Verdict of a check. `skipped`: nothing could be checked, and the detail says why. Only `failed` makes the command
 * fail.
 */
export type CheckVerdict = 'ok' | 'warning' | 'failed' | 'skipped'

export interface Result {
  readonly verdict: CheckVerdict
  readonly detail: string
  /** Command or variable that solves the problem. Absent if nothing needs to be fixed. */
  readonly fix?: string
}

export interface CheckFinding extends Result {
  readonly check: string
}

export interface Check {
  readonly name: string
  run(): Result | Promise<Result>
}

export const passed = (detail: string): Result => ({ verdict: 'ok', detail })
export const skipped = (detail: string): Result => ({ verdict: 'skipped', detail })
export const warning = (detail: string, fix: string): Result => ({ verdict: 'warning', detail, fix })
export const failed = (detail: string, fix?: string): Result => ({
  verdict: 'failed',
  detail,
  ...(fix === undefined ? {} : { fix }),
})

/** Runs the checks one after another. A check that throws counts as failed, and the other checks still run. */
export async function runChecks(checks: readonly Check[], onFinding: (finding: CheckFinding) => void): Promise<void> {
  for (const { name, run } of checks) {
    const result = await Promise.resolve()
      .then(run)
      .catch((error: unknown) => failed(error instanceof Error ? errorText(error) : describeError(error)))
    onFinding({ check: name, ...result })
  }
}
