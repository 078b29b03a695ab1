import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface HousekeepingDeps extends RepeatDeps {
  readonly addPartitions: () => Promise<void>
  readonly forgetOldAnswers: () => Promise<void>
  readonly forgetOldPresentations: () => Promise<void>
}

// Partitions are made a week and ten million positions ahead, so an hour late does no harm.
const everyMs = 60 * 60 * 1000

/** Periodic work so that the ledger always has a partition to write to. */
export async function startHousekeepingJob(deps: HousekeepingDeps): Promise<Repeated> {
  await deps.addPartitions()
  return repeat(deps, {
    name: 'housekeeping',
    everyMs,
    async run() {
      await deps.addPartitions()
      await deps.forgetOldAnswers()
      await deps.forgetOldPresentations()
    },
  })
}
