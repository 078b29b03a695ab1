import { expect, test } from 'vitest'
import { startPostgresCluster } from '../support/postgresCluster.ts'
import { killUnderLoad } from './killUnderLoad.ts'

test('I5: what was acknowledged before a kill -9 of Postgres is there after it, once, without a gap and in balance', async () => {
  const cluster = await startPostgresCluster()
  const database = await cluster.createDatabase()
  const findings = await killUnderLoad({
    database,
    pid: cluster.postgres.pid,
    kills: 2,
    callers: 32,
    msBetweenKills: 700,
    progress: () => undefined,
  })
  expect(findings.acknowledged).toBeGreaterThan(100)
  expect(findings).toMatchObject({ misled: 0, lost: 0, gaps: 0, unbalanced: 0 })
})
