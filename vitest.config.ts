import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longestFirst.ts'

/**
 * Compiled modules, for the test processes and the programs that they start. A program without it compiles for a
 * second.
 */
const compileCache = fileURLToPath(new URL('.vitest/compileCache', import.meta.url))
// Starts no Postgres: it only waits for the first test file that asks for one (docs/testing.md).
const globalSetup = ['test/support/globalDatabase.ts']
const setupFiles = ['packages/core/src/quietBindings.ts', 'test/support/closeAfterFile.ts']

/*
 * The suffix says the kind: .unit, .property and .arch need nothing, .pg a Postgres, .chain the local chain, .e2e both and
 * HTTP, .process whole programs that are started and killed, a browser among them. `npm test` leaves the last kind to CI.
 * No retries and no sleeps; a test that needs either is wrong.
 */
export default defineConfig({
  test: {
    // Only a failure waits for these. A file of seven starts took twelve times as long at load 25, and a slow machine fails no test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // The file is for .ci/run, which prints the closing line from it.
    reporters: ['default', ['json', { outputFile: '.vitest/results.json' }]],
    retry: 0,
    // Two more than the processors of the smallest machine, because a worker waits for Postgres or a chain a third of its
    // time.
    maxWorkers: 4,
    // Node loads the files as it does in production. Vite would transform each of 2,000 files, and bind each imported name
    // to a getter: a sixth of the processor time of all tests. `vi.mock` does not work without the loader, and no test
    // needs it.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    env: { NODE_COMPILE_CACHE: compileCache },
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: ['test/**/*.{unit,property,arch}.test.ts'],
          setupFiles,
          // One load of the modules for all files takes half the processor time of one load for each.
          pool: 'threads',
          isolate: false,
          // These files wait for nothing. Four workers compile the same functions four times: a third more processor time.
          maxWorkers: 2,
          // Projects with different numbers of workers run one after the other.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.{pg,chain,e2e}.test.ts'],
          globalSetup,
          setupFiles,
          pool: 'forks',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: ['test/**/*.process.test.ts'],
          globalSetup,
          setupFiles,
          pool: 'forks',
          isolate: false,
        },
      },
    ],
  },
})
