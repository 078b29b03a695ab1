import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface BurnDebtDeps extends RepeatDeps {
  readonly readDebt: () => Promise<{ readonly owedBaseUnits: bigint; readonly oldestOwedAtMs: number | undefined }>
  readonly onDebt: (debt: { readonly owedBaseUnits: bigint; readonly oldestSeconds: number }) => void
}

const everyMs = 30_000

/** Measures how long burns have been owed. Another process makes the burns, and may be down. */
export function startBurnDebtJob(deps: BurnDebtDeps): Repeated {
  const { clock, readDebt, onDebt } = deps
  return repeat(deps, {
    name: 'burn debt',
    everyMs,
    async run() {
      const { owedBaseUnits, oldestOwedAtMs } = await readDebt()
      // Block times may be slightly ahead of the server's clock.
      const ageMs = oldestOwedAtMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestOwedAtMs)
      onDebt({ owedBaseUnits, oldestSeconds: ageMs / 1_000 })
    },
  })
}
