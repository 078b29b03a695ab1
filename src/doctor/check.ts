import { describeError, errorText } from '@tollbook/core/fault'

/** `skipped`: nothing could be checked, and the detail says why. Only `failed` makes the command fail. */
export type CheckVerdict = 'ok' | 'warning' | 'failed' | 'skipped'

/** Result of a check. `detail` is a sentence for the operator. */
export interface Result {
  readonly verdict: CheckVerdict
  readonly detail: string
  /** The command or variable that solves the problem. */
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

/** Runs the checks one after another. A check that throws counts as failed, and the others still run. */
export async function runChecks(checks: readonly Check[], onFinding: (finding: CheckFinding) => void): Promise<void> {
  for (const { name, run } of checks) {
    const result = await Promise.resolve()
      .then(run)
      .catch((error: unknown) => failed(error instanceof Error ? errorText(error) : describeError(error)))
    onFinding({ check: name, ...result })
  }
}
