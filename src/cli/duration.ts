import { UsageProblem } from '@tollbook/client/command/usageProblem'

const unitsMs: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

interface Bounds {
  readonly minMs?: number
  readonly maxMs?: number
}

export function readDuration(option: string, text: string, { minMs = 0, maxMs = Infinity }: Bounds = {}): number {
  // Seven digits keep the milliseconds a safe integer, even for a number of days.
  const [, digits = '', unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  const durationMs = Number(digits) * (unitsMs.get(unit) ?? Number.NaN)
  if (Number.isNaN(durationMs))
    throw new UsageProblem(option, `must be a duration such as 90s, 10m, 24h or 7d (got ${text})`)
  if (durationMs < minMs) throw new UsageProblem(option, `must be at least ${minMs / 1_000}s (got ${text})`)
  if (durationMs > maxMs) throw new UsageProblem(option, `must be at most ${maxMs / 86_400_000}d (got ${text})`)
  return durationMs
}
