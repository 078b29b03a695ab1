import { defineConfig } from 'vitest/config'

/*
 * The suffix says the kind: .unit and .property need nothing, .pg a Postgres, .chain the local chain, .e2e both and HTTP.
 * No retries and no sleeps; a test that needs either is wrong.
 */
export default defineConfig({
  test: {
    include: ['test/**/*.{unit,property,pg,chain,e2e,arch}.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Starts no Postgres: it only waits for the first test file that asks for one (docs/testing.md).
    globalSetup: ['test/support/globalDatabase.ts'],
    // The file is for .ci/run, which prints the closing line from it.
    reporters: ['default', ['json', { outputFile: '.vitest/results.json' }]],
    setupFiles: ['packages/core/src/quietBindings.ts'],
    retry: 0,
    pool: 'forks',
    maxWorkers: 3,
    restoreMocks: true,
  },
})
