import { expect, test } from 'vitest'
import { findDurabilityProblem } from '../../src/store/durability.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const durable = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  lock_timeout: '1s',
  statement_timeout: '1s',
  in_recovery: false,
}

// `durability.process.test.ts` starts servers with these settings.
test.each([
  [{}, undefined],
  [{ fsync: 'off' }, 'the database may lose acknowledged commits: turn on fsync'],
  [{ full_page_writes: 'off' }, 'the database may lose acknowledged commits: turn on full_page_writes'],
  [{ in_recovery: true }, 'the database is a standby: connect to the primary'],
])('I27: of a database with %j, the problem is %s', async (settings, problem) => {
  const database = scriptedDatabase(() => [{ ...durable, ...settings }])
  expect(await findDurabilityProblem(database)).toBe(problem)
})
