import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface HousekeepingDeps extends RepeatDeps {
  readonly addPartitions: () => Promise<void>
  readonly forgetOldAnswers: () => Promise<void>
  readonly forgetOldPresentations: () => Promise<void>
}

// Interval between runs. Partitions are made a week and ten million positions ahead. One statement deletes all old
// rows, so frequent runs keep this statement short.
const everyMs = 10 * 60 * 1000

/** Creates the first partitions before it resolves, because an append needs them. */
export async function startHousekeepingJob(deps: HousekeepingDeps): Promise<Repeated> {
  await deps.addPartitions()
  return repeat(deps, {
    name: 'housekeeping',
    everyMs,
    async run() {
      const failures: unknown[] = []
      for (const step of [deps.addPartitions, deps.forgetOldAnswers, deps.forgetOldPresentations])
        await step().catch((error: unknown) => void failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
  })
}
