/** One figure of design §6: a ratio within one run, because the machine is shared and absolute figures mean little. */
export interface Yardstick {
  readonly what: string
  readonly value: number
  readonly goal: { readonly atLeast: number } | { readonly atMost: number }
  /** The absolute figures behind the ratio, and how they were taken. */
  readonly detail: string
}

export interface Bench {
  readonly name: string
  readonly about: string
  run(options: BenchOptions): Promise<readonly Yardstick[]>
}

export interface BenchOptions {
  /** Number of rounds, of which the median counts. */
  readonly rounds: number
  readonly roundSeconds: number
  /** Paid requests of the memory bench. */
  readonly requests: number
  /** Payments of the rollup and burn-stats benches, events of the audit and export benches. */
  readonly payments: number
  /** Scheduling priority of the attackers of the hostile bench, 0 to 19. */
  readonly attackersNice: number
  /** Whether the hostile bench also measures the release before decision 0027. */
  readonly comparesEarlier: boolean
  /** Folder for profiles of the server's processor in the hostile bench. */
  readonly profileDirectory: string | undefined
  readonly progress: (line: string) => void
}

export function passes({ value, goal }: Yardstick): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

export function describeYardstick(yardstick: Yardstick): string {
  const { goal, what, value, detail } = yardstick
  const wanted = 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`
  return `${passes(yardstick) ? 'pass ' : 'SHORT'}  ${value.toFixed(2).padStart(7)}  (goal ${wanted})  ${what}\n                ${detail}`
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The first round warms the sides up and is thrown away. */
export async function inRounds<T>(
  { rounds }: Pick<BenchOptions, 'rounds'>,
  measure: () => Promise<T>,
): Promise<readonly T[]> {
  const found: T[] = []
  for (let round = 0; round <= rounds; round++) found.push(await measure())
  return found.slice(1)
}
