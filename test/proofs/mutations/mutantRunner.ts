import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createVitest, type Vitest } from 'vitest/node'
import { systemClock } from '@tollbook/core/clock'
import { simulationTest } from './relatedTests.ts'

/*
 * Runs tests again and again in a copy of the repository. One process stays warm, so a mutant costs what its tests
 * cost. The copy is made of hard links, so a changed file is always a new one. The tests of a mutant share one process
 * and stop at the first failure.
 */

export type Verdict = 'killed' | 'timeout' | 'survived'

export interface MutantRunner {
  /** Runs these tests with the file changed. */
  run(file: string, text: string, tests: readonly string[]): Promise<Verdict>
  /** Those of these tests that pass without a change, each asked once. */
  greenOf(tests: readonly string[]): Promise<readonly string[]>
  /** Writes the text of the original back. */
  restore(file: string, source: string): Promise<void>
  close(): Promise<void>
}

const config = `import { defineConfig } from 'vitest/config'
export default defineConfig({
  test: {
    include: ['test/**/*.{unit,property,arch,pg}.test.ts', 'test/{rails,e2e,payout,burn,client}/**/*.{e2e,chain}.test.ts'],
    setupFiles: ['packages/core/src/quietBindings.ts', 'test/support/closeAfterFile.ts'],
    globalSetup: ['test/support/globalDatabase.ts'],
    pool: 'forks', isolate: false, maxWorkers: 1, bail: 1, retry: 0, restoreMocks: true,
    env: { NODE_COMPILE_CACHE: '.vitest/compileCache' },
    testTimeout: 60_000, hookTimeout: 60_000, reporters: [{}],
  },
})
`
const configName = 'vitest.mutations.config.ts'
const seedsTest = `import { expect, test } from 'vitest'
import { simulate } from './simulate.ts'
import { readSchemaRules } from './simulatedPostgres.ts'
const rules = await readSchemaRules()
test.each([1, 2, 3, 4])('seed %i', async (seed) => {
  const { violations } = await simulate({ seed, rules, crowd: 8 })
  expect(violations).toEqual([])
})
`

/** A copy of the tracked and installed files. */
export async function copyRepository(root: string, copy: string): Promise<void> {
  await mkdir(copy, { recursive: true })
  for (const name of await readdir(root))
    if (!name.startsWith('.') || name === '.oxlintrc.json') execFileSync('cp', ['-al', join(root, name), copy])
  await writeFile(join(copy, configName), config)
  await writeFile(join(copy, simulationTest), seedsTest)
}

export async function openMutantRunner(copy: string, timeoutMs: number): Promise<MutantRunner> {
  let vitest: Vitest | undefined
  const open = async () =>
    (vitest ??= await createVitest(
      { root: copy, config: join(copy, configName), watch: false },
      {},
      { stdout: quiet() },
    ))

  async function change(file: string, text: string): Promise<void> {
    const path = join(copy, file)
    await rm(path)
    await writeFile(path, text)
    vitest?.invalidateFile(path)
  }

  async function close(): Promise<void> {
    const ending = vitest?.close()
    vitest = undefined
    await Promise.race([ending, systemClock.sleep(closeMs)])
  }

  async function runTests(tests: readonly string[]) {
    const warm = await open()
    const wanted = new Set(tests.map((test) => join(copy, test)))
    const all = await warm.globTestSpecifications([...wanted])
    const running = warm.runTestSpecifications(all.filter(({ moduleId }) => wanted.has(moduleId)))
    const ended = await Promise.race([running, systemClock.sleep(timeoutMs)])
    if (ended === undefined) return undefined
    // Vitest also returns the modules of earlier runs, which failed by other mutants.
    const testModules = ended.testModules.filter(({ moduleId }) => wanted.has(moduleId))
    return { testModules, unhandledErrors: ended.unhandledErrors }
  }

  async function passes(test: string): Promise<boolean> {
    const ended = await runTests([test])
    return ended !== undefined && ended.testModules.length > 0 && ended.testModules.every((module) => module.ok())
  }

  const green = new Map<string, boolean>()
  return {
    async greenOf(tests) {
      for (const test of tests) {
        if (green.has(test)) continue
        const isGreen = await passes(test)
        if (!isGreen) await close()
        // The process may still suffer from the mutant before, so a second one is asked.
        green.set(test, isGreen || (await passes(test)))
      }
      return tests.filter((test) => green.get(test) === true)
    },
    async run(file, text, tests) {
      await change(file, text)
      // SQL is applied when the database of the tests is made, which is once a process.
      if (file.endsWith('.sql')) await close()
      const ended = await runTests(tests)
      if (ended === undefined) {
        await close()
        return 'timeout'
      }
      const isGreen = ended.unhandledErrors.length === 0 && ended.testModules.every((module) => module.ok())
      return isGreen ? 'survived' : 'killed'
    },
    async restore(file, source) {
      await change(file, source)
      if (file.endsWith('.sql')) await close()
    },
    close,
  }
}

const closeMs = 10_000

function quiet(): NodeJS.WriteStream {
  const silent = Object.create(process.stdout)
  silent.write = () => true
  return silent
}
