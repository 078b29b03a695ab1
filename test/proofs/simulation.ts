import '@tollbook/core/quietBindings'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { systemClock } from '@tollbook/core/clock'
import { plantedBugs } from '../simulation/plantedBugs.ts'
import { simulate } from '../simulation/simulate.ts'
import { readSchemaRules } from '../simulation/simulatedPostgres.ts'

/*
 * Runs the service against everything that can go wrong, once per seed: `test/simulation/simulate.ts`. A seed that
 * breaks an invariant is printed and runs again the same way.
 */

const help = `Runs the paid-request flow, the jobs and the ledger against seeded faults.

  npm run proof simulation                      1,000 seeds
  npm run proof simulation -- --seeds 50        as many seeds
  npm run proof simulation -- --from 7          first seed (default 1)
  npm run proof simulation -- --seed 7          one seed, with everything that happens
  npm run proof simulation -- --planted         plants one bug after another and prints the seed that finds it
  npm run proof simulation -- --crowd 8         callers in a crowd (default 64); npm test has 8
  npm run proof simulation -- --workers 2       threads (default: number of processors)
`

interface Result {
  readonly seed: number
  readonly violations: readonly string[]
  readonly steps: number
  readonly payments: number
  readonly presentations: number
  readonly items: number
  readonly faults: ReadonlyMap<string, number>
}

interface Work {
  readonly seeds: readonly number[]
  readonly crowd: number
  readonly bug: string | undefined
}

async function runSeed(seed: number, { bug, crowd }: Work): Promise<Result> {
  const planted = plantedBugs.find(({ name }) => name === bug)
  const report = await simulate({ seed, rules: await rules, crowd, ...(planted === undefined ? {} : { planted }) })
  const { violations, steps, payments, presentations, faults, judged } = report
  return { seed, violations, steps, payments, presentations, faults, items: judged.length }
}

const rules = readSchemaRules()

async function work(given: Work): Promise<void> {
  for (const seed of given.seeds) parentPort?.postMessage(await runSeed(seed, given), [])
}

/** Runs the seeds on the threads. Stops early when `onResult` returns true. */
async function runAll(work: Work, workers: number, onResult: (result: Result) => boolean): Promise<void> {
  await Promise.all(
    Array.from({ length: workers }, (_, n) => {
      const seeds = work.seeds.filter((_seed, index) => index % workers === n)
      const worker = new Worker(new URL(import.meta.url), { workerData: { ...work, seeds } })
      return new Promise<void>((resolve, reject) => {
        worker.on('message', (result: Result) => {
          if (onResult(result)) void worker.terminate()
        })
        worker.on('error', reject)
        worker.on('exit', () => resolve())
      })
    }),
  )
}

async function runOne(seed: number, crowd: number): Promise<number> {
  const report = await simulate({ seed, rules: await rules, isTraced: true, crowd })
  for (const line of report.trace) process.stdout.write(`${line}\n`)
  for (const violation of report.violations) process.stdout.write(`VIOLATED ${violation}\n`)
  process.stdout.write(`seed ${seed}: ${report.violations.length} violations\n`)
  return report.violations.length === 0 ? 0 : 1
}

const progressEvery = 50

interface Runs {
  readonly seeds: readonly number[]
  readonly crowd: number
  readonly workers: number
}

async function runMany({ seeds, crowd, workers }: Runs): Promise<number> {
  const startedAtMs = systemClock.monotonicMs()
  const total = { runs: 0, failed: 0, steps: 0, payments: 0, presentations: 0, items: 0 }
  const faults = new Map<string, number>()
  await runAll({ seeds, crowd, bug: undefined }, workers, (result) => {
    total.runs++
    for (const name of ['steps', 'payments', 'presentations', 'items'] as const) total[name] += result[name]
    for (const [name, count] of result.faults) faults.set(name, (faults.get(name) ?? 0) + count)
    if (result.violations.length > 0) {
      total.failed++
      process.stdout.write(
        `FAILED seed ${result.seed}\n${result.violations
          .slice(0, 3)
          .map((line) => `  ${line}\n`)
          .join('')}`,
      )
      process.stdout.write(`  again: npm run proof simulation -- --seed ${result.seed}\n`)
    }
    if (total.runs % progressEvery === 0)
      process.stdout.write(`${total.runs} of ${seeds.length}, ${total.failed} failed\n`)
    return false
  })
  const seconds = Math.round((systemClock.monotonicMs() - startedAtMs) / 1000)
  process.stdout.write(
    `faults: ${[...faults]
      .sort(([, one], [, other]) => other - one)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}\n`,
  )
  process.stdout.write(
    `${total.runs} seeds, ${total.failed} failed; ${total.payments} payments, ${total.presentations} presentations, ${total.items} appends, ${total.steps} events in ${seconds} s\n`,
  )
  return total.failed === 0 && total.runs === seeds.length ? 0 : 1
}

/** Each planted bug is found within the seeds. */
async function runPlanted({ seeds, crowd, workers }: Runs): Promise<number> {
  let missed = 0
  for (const { name } of plantedBugs) {
    let found: Result | undefined
    await runAll({ seeds, crowd, bug: name }, workers, (result) => {
      if (result.violations.length > 0 && (found === undefined || result.seed < found.seed)) found = result
      return found !== undefined
    })
    if (found === undefined) missed++
    process.stdout.write(`${found === undefined ? 'MISSED' : `seed ${found.seed}`}  ${name}\n`)
    if (found !== undefined) process.stdout.write(`        ${found.violations[0]}\n`)
  }
  process.stdout.write(`${plantedBugs.length - missed} of ${plantedBugs.length} planted bugs found\n`)
  return missed === 0 ? 0 : 1
}

if (isMainThread) {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      planted: { type: 'boolean', default: false },
      seed: { type: 'string' },
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      crowd: { type: 'string', default: '64' },
      workers: { type: 'string', default: String(availableParallelism()) },
    },
  })
  const seeds = Array.from({ length: Number(values.seeds) }, (_, n) => Number(values.from) + n)
  if (values.help) process.stdout.write(help)
  else if (values.seed !== undefined) process.exitCode = await runOne(Number(values.seed), Number(values.crowd))
  else
    process.exitCode = await (values.planted ? runPlanted : runMany)({
      seeds,
      crowd: Number(values.crowd),
      workers: Number(values.workers),
    })
} else await work(workerData)
