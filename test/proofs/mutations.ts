import '@tollbook/core/quietBindings'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { sha256Hex } from '@tollbook/core/digest'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import type { Mutant } from './mutations/mutant.ts'
import { copyRepository, type MutantRunner, openMutantRunner } from './mutations/mutantRunner.ts'
import { mapTests, type RelatedTests, type TestMap } from './mutations/relatedTests.ts'
import { mutateSql } from './mutations/sqlMutants.ts'
import { openStaticCheck, type StaticCheck } from './mutations/staticCheck.ts'
import { mutateTypeScript } from './mutations/typescriptMutants.ts'

/*
 * Changes one condition, constant or statement of the code that moves money at a time, and runs the tests that reach
 * it. A change that no test notices is a rule that no test holds. Mutants are made from the code, so new code has its
 * own.
 */

const help = `Mutates the code that moves money and runs the tests that reach each mutant.

  npm run proof mutations                           a sample of 200 mutants
  npm run proof mutations -- --sample 500 --seed 2  another sample
  npm run proof mutations -- --all                  all of them: hours
  npm run proof mutations -- --since main           those of files that changed since a commit
  npm run proof mutations -- --file src/payment     those of files whose path starts so; separate several with commas
  npm run proof mutations -- --operator 'swap awaits'  those of one operator
  npm run proof mutations -- --id 1a2b3c4d5e6f      one mutant, with its tests
  npm run proof mutations -- --list                 the mutants, without running anything
  npm run proof mutations -- --again                forgets earlier results (.mutations.json)

A mutant that \`npm run check\` refuses (types, a promise left alone) does not count. Results are kept, so a run that was
stopped goes on. Survivors are judged again. One is explained, and not judged, when its id and the reason are in
test/proofs/mutations/explained.json. Exit code 1 below a score of 90 %.
`

const root = fileURLToPath(new URL('../..', import.meta.url))
const resultsPath = join(root, '.mutations.json')
const explainedPath = join(root, 'test/proofs/mutations/explained.json')
const scoreMin = 0.9
const pureMax = 6
const realMax = 5
const timeoutMs = 120_000

const money = [
  /^src\/(payment|pricing|paywall|rails|jobs|payout|burn|signer|accounting|reports|backup|pages)\/.*\.ts$/,
  /^src\/store\/(?!news).*\.ts$/,
  /^src\/(transport\/(admission|rateLimit|callers|callerLimits|allowances)|financeApi\/.*)\.ts$/,
  /^packages\/ledger\/(src\/.*\.ts|sql\/.*\.sql)$/,
  /^packages\/(client|audit)\/src\/.*\.ts$/,
  /^migrations\/(functions\/(payouts|burns|settings|quotes|transfer_scans)|kinds\/\w+)\.sql$/,
]
// They move no money: the news, schedules of background work, and commands.
const outside = /newsPolling|priceJob|healthJobs|housekeeping|command|keypairFile|faucet/i

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    sample: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    since: { type: 'string' },
    file: { type: 'string' },
    operator: { type: 'string' },
    id: { type: 'string' },
  },
})

const results = z.record(z.string(), z.enum(['refused', 'killed', 'timeout', 'survived', 'unreached']))
type Results = z.infer<typeof results>
const explanations = z.record(z.string(), z.string())

function git(...args: readonly string[]): readonly string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '')
}

function mutantsOf(file: string): readonly Mutant[] {
  const source = readFileSync(join(root, file), 'utf8')
  return file.endsWith('.sql') ? mutateSql(file, source) : mutateTypeScript(file, source)
}

function chooseMutants(): readonly Mutant[] {
  const changed = values.since === undefined ? undefined : new Set(git('diff', '--name-only', values.since))
  const files = git('ls-files').filter(
    (file) => money.some((pattern) => pattern.test(file)) && !outside.test(file) && (changed?.has(file) ?? true),
  )
  const starts = (values.file ?? '').split(',')
  const mutants = files.filter((file) => starts.some((start) => file.startsWith(start))).flatMap(mutantsOf)
  // Two equal lines of a file make one id, and one of them stands for both.
  const unique = [...new Map(mutants.map((mutant) => [mutant.id, mutant])).values()].filter(
    ({ operator }) => operator === (values.operator ?? operator),
  )
  if (values.id !== undefined) return unique.filter(({ id }) => id === values.id)
  const chosen = values.all || values.list ? unique : shuffled(unique).slice(0, Number(values.sample))
  // Mutants of SQL come last: each needs a separate database.
  return chosen.toSorted((one, other) => Number(one.file.endsWith('.sql')) - Number(other.file.endsWith('.sql')))
}

/** A mutant keeps its place in the order of a seed when others come and go, so its kept result goes on counting. */
function shuffled(mutants: readonly Mutant[]): readonly Mutant[] {
  return mutants
    .map((mutant) => ({ mutant, order: sha256Hex(`${values.seed} ${mutant.id}`) }))
    .toSorted((one, other) => (one.order < other.order ? -1 : 1))
    .map(({ mutant }) => mutant)
}

interface Gate {
  readonly runner: MutantRunner
  readonly map: TestMap
  readonly check: StaticCheck
}

type Verdict = Results[string]
type Pass = (gate: Gate, mutant: Mutant) => Promise<Verdict>

/** Cheapest first, each over all mutants that are still alive: an early end leaves a lower bound of the score. */
const passes: Readonly<Record<string, Pass>> = {
  check: async ({ check }, mutant) => (check.refuses(mutant) ? 'refused' : 'unreached'),
  'tests without a database': (gate, mutant) => {
    const { pure, simulated } = gate.map.relatedTo(mutant.file)
    // In one process, because loading the modules takes longer than most of these tests.
    return runStages(gate, mutant, [[...pure.slice(0, pureMax), ...simulated]])
  },
  'tests with a database': (gate, mutant) => {
    const { real, served } = gate.map.relatedTo(mutant.file)
    return runStages(gate, mutant, [real.slice(0, realMax), served.slice(0, realMax)])
  },
}

async function runStages({ runner }: Gate, { file, text }: Mutant, stages: RelatedTests['pure'][]): Promise<Verdict> {
  let reached = 0
  try {
    for (const stage of stages) {
      const tests = await runner.greenOf(stage)
      reached += tests.length
      if (tests.length === 0) continue
      const verdict = await runner.run(file, text, tests)
      if (verdict !== 'survived') return verdict
    }
    return reached === 0 ? 'unreached' : 'survived'
  } finally {
    await runner.restore(file, readFileSync(join(root, file), 'utf8'))
  }
}

function describe({ id, file, line, operator, before, after }: Mutant): string {
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 60)
  return `${id}  ${file}:${line}  ${operator}: ${short(before)} -> ${short(after)}`
}

async function runMutants(mutants: readonly Mutant[]): Promise<number> {
  const explained = explanations.parse(JSON.parse(readFileSync(explainedPath, 'utf8')))
  const known: Results =
    existsSync(resultsPath) && !values.again && values.id === undefined
      ? results.parse(JSON.parse(readFileSync(resultsPath, 'utf8')))
      : {}
  // On a disk: hard links to the repository do not reach into memory.
  const copy = await makeTemporaryDirectory(tmpdir())
  await copyRepository(root, copy.path)
  const runner = await openMutantRunner(copy.path, timeoutMs)
  const gate: Gate = { runner, map: mapTests(root), check: openStaticCheck(root) }
  try {
    for (const [name, pass] of Object.entries(passes)) {
      process.stdout.write(`\n${name}\n`)
      await runPass(pass, { gate, mutants: mutants.filter(({ id }) => explained[id] === undefined), known })
    }
  } finally {
    await runner.close()
    await copy.remove()
  }
  return report(mutants, { known, explained })
}

interface Run {
  readonly gate: Gate
  readonly mutants: readonly Mutant[]
  readonly known: Results
}

async function runPass(pass: Pass, { gate, mutants, known }: Run): Promise<void> {
  // The checker is asked once about each mutant.
  const isOpen = (verdict: Verdict | undefined) => (pass === passes['check'] ? verdict === undefined : isAlive(verdict))
  const alive = mutants.filter(({ id }) => isOpen(known[id]))
  for (const [index, mutant] of alive.entries()) {
    const before = known[mutant.id]
    const judged = await pass(gate, mutant)
    known[mutant.id] = judged === 'unreached' && before === 'survived' ? before : judged
    if (values.id === undefined) writeFileSync(resultsPath, JSON.stringify(known, undefined, 1))
    process.stdout.write(`${index + 1} of ${alive.length}  ${judged.padEnd(9)}  ${describe(mutant)}\n`)
  }
}

function isAlive(verdict: Verdict | undefined): boolean {
  return verdict === undefined || verdict === 'survived' || verdict === 'unreached'
}

interface Findings {
  readonly known: Results
  readonly explained: Readonly<Record<string, string>>
}

function report(mutants: readonly Mutant[], { known, explained }: Findings): number {
  const running = mutants.filter(({ id }) => known[id] !== 'refused')
  const alive = running.filter(({ id }) => isAlive(known[id]) || explained[id] !== undefined)
  const timeouts = running.filter(({ id }) => known[id] === 'timeout').length
  const open = alive.filter(({ id }) => explained[id] === undefined)
  const score = (running.length - open.length) / Math.max(1, running.length)
  process.stdout.write('\nSurvivors without an explanation:\n')
  for (const mutant of open) process.stdout.write(`  ${describe(mutant)}\n`)
  const killed = running.length - alive.length
  process.stdout.write(
    `\n${mutants.length - running.length} of ${mutants.length} mutants are refused by npm run check and do not count. ` +
      `${killed} of ${running.length} killed by tests (${timeouts} by a time-out), ${alive.length - open.length} explained: ${(score * 100).toFixed(1)} %\n`,
  )
  return score >= scoreMin ? 0 : 1
}

if (values.help) process.stdout.write(help)
else {
  const mutants = chooseMutants()
  if (values.list) {
    for (const mutant of mutants) process.stdout.write(`${describe(mutant)}\n`)
    process.stdout.write(`${mutants.length} mutants\n`)
  } else process.exitCode = await runMutants(mutants)
}
