import { eachInTurn, type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface HousekeepingDeps extends RepeatDeps {
  readonly addPartitions: () => Promise<void>
  readonly forgetOldAnswers: () => Promise<void>
  readonly forgetOldPresentations: () => Promise<void>
}

// Interval between runs. Partitions are made a week and ten million positions ahead. Frequent runs keep the deletions
// of old rows short.
const everyMs = 10 * 60 * 1000

/** Starts the housekeeping. Creates the first partitions before it resolves, because an append needs them. */
export async function startHousekeepingJob(deps: HousekeepingDeps): Promise<Repeated> {
  await deps.addPartitions()
  return repeat(deps, {
    name: 'housekeeping',
    everyMs,
    run: () => eachInTurn([deps.addPartitions, deps.forgetOldAnswers, deps.forgetOldPresentations], (step) => step()),
  })
}
