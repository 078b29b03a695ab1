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
    retry: 0,
    pool: 'forks',
    maxWorkers: 2,
    restoreMocks: true,
  },
})
