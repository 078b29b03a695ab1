import pg from 'pg'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { createTestDatabase } from '../support/database.ts'

test('a database that a later release has migrated is used, and the log says what differs', async () => {
  const { adminUrl, serviceUrl } = await createTestDatabase()
  const warnings = async () => {
    const entries: object[] = []
    const log = { ...silentLog, warn: (entry: object) => void entries.push(entry) }
    const ledger = await openLedger({ databaseUrl: serviceUrl, applicationName: 'test', clock: systemClock, log })
    await ledger.close()
    return entries
  }
  expect(await warnings()).toEqual([])
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query("insert into migration.applied values ('9999_later', '\\x00', now())")
  await admin.end()
  const difference = expect.stringMatching(/newer than this program \(9999_later\)/)
  expect(await warnings()).toEqual([{ event: 'schema_newer', difference }])
})
