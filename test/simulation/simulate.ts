import { assertPresent } from '@tollbook/core/assert'
import { startCaller } from './caller.ts'
import type { JobName } from './instance.ts'
import { createInvariantChecks } from './invariants.ts'
import type { JudgedItem, SchemaRules } from './simulatedPostgres.ts'
import { openWorld, type PlantedBug, type World } from './world.ts'

/*
 * One run of the service against everything that can go wrong, decided by one seed: three instances, a database, a
 * chain and their callers, with the real code between them. The same seed runs the same way.
 */

export interface RunOptions {
  readonly seed: number
  readonly rules: SchemaRules
  readonly planted?: PlantedBug
  readonly isTraced?: boolean
  /** Size of a crowd of callers (default 64); a smaller one costs less. */
  readonly crowd?: number
}

export interface RunReport {
  readonly seed: number
  /** Empty when the run kept every invariant. */
  readonly violations: readonly string[]
  readonly steps: number
  readonly payments: number
  readonly presentations: number
  readonly faults: ReadonlyMap<string, number>
  readonly judged: readonly JudgedItem[]
  readonly trace: readonly string[]
}

const callersMax = 8
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const disturbedMs = 2 * minuteMs
/**
 * Rounds of the jobs after the faults, and the time before each. An absence is judged twice, a refund is due after a
 * day.
 */
const roundsAfterMs = [
  ...Array.from({ length: 6 }, () => 2 * minuteMs),
  2 * hourMs,
  22 * hourMs,
  hourMs,
  hourMs,
] as const

export async function simulate({ seed, rules, planted, isTraced = false, crowd = 64 }: RunOptions): Promise<RunReport> {
  const world = await openWorld({ seed, rules, planted, isTraced, crowd })
  const { time, chance, history, chain, postgres } = world
  const checks = createInvariantChecks(world)
  const callers = chance.between(3, callersMax)
  for (let number = 1; number <= callers; number++) startCaller(world, number)
  await runFor(world, disturbedMs, checks.afterStep)
  world.calm()
  world.trace(() => 'all faults end')
  for (const afterMs of roundsAfterMs) {
    await runFor(world, afterMs, checks.afterStep)
    await runJobs(world, checks.afterStep)
  }
  // The slowest caller asks once more.
  await runFor(world, 8 * hourMs, checks.afterStep)
  await checkIdempotence(world, checks.afterStep)
  checks.atEnd()
  return {
    seed,
    violations: history.violations,
    steps: time.steps(),
    payments: chain.transactions().length,
    presentations: history.presentations.length,
    faults: history.faults,
    judged: postgres.judged,
    trace: history.trace,
  }
}

function runFor({ time }: World, durationMs: number, afterStep: () => void): Promise<void> {
  return time.runUntil(time.nowMs() + durationMs, afterStep)
}

const jobNames: readonly JobName[] = [
  'open work',
  'finality',
  'rebroadcast',
  'refunds',
  'open work',
  'transfer scan',
  'open work',
]

/** One round of each job, on an instance that this hour decides. Each round has a minute. */
async function runJobs(world: World, afterStep: () => void): Promise<void> {
  const { instances, chance, history } = world
  const instance = assertPresent(instances[chance.number(instances.length)], 'there is an instance')
  await runFor(world, 1_000, afterStep)
  const polled = instance.parts().pollNodes()
  await runFor(world, 2_000, afterStep)
  await polled
  for (const job of jobNames) {
    let isDone = false
    const run = instance.parts().jobs[job]()
    run.then(
      () => (isDone = true),
      (error: unknown) => history.violations.push(`the job ${job} fails when all is calm: ${String(error)}`),
    )
    await runFor(world, 10_000, afterStep)
    if (!isDone) history.violations.push(`the job ${job} does not end when all is calm`)
  }
}

/** A round of each job more changes nothing. */
async function checkIdempotence(world: World, afterStep: () => void): Promise<void> {
  const before = appendedCount(world)
  await runJobs(world, afterStep)
  await runJobs(world, afterStep)
  const more = appendedCount(world) - before
  if (more > 0) world.history.violations.push(`a second round of the jobs appends ${more} items more`)
}

function appendedCount({ postgres }: World): number {
  return postgres.judged.filter(({ result }) => result.outcome === 'appended').length
}
