import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/primitives/log.ts'
import { systemClock } from '@tollbook/core/clock'
import { migrate, migrationNames } from '../../src/store/migrate.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { createTestDatabase } from '../support/database.ts'
import { openSessions } from './instance.ts'
import { dumpSchema } from './schemaDump.ts'

/** A database of the file's own with nothing in it. */
async function emptied() {
  const database = await createTestDatabase()
  const session = new Client({ connectionString: database.adminUrl })
  await session.connect()
  await session.query(
    'drop schema ledger cascade; drop schema paywall cascade; drop schema news cascade; drop schema reports cascade; drop schema migration cascade',
  )
  await session.end()
  return database
}

const open = (databaseUrl: string) =>
  openLedger({ databaseUrl, applicationName: 'migrate test', clock: systemClock, log: silentLog })

test('of twenty processes that migrate an empty database at once one applies everything, and none fails', async () => {
  const { ownerUrl, serviceUrl } = await emptied()
  const applied = await Promise.all(Array.from({ length: 20 }, () => migrate({ databaseUrl: ownerUrl })))
  expect(applied.filter((names) => names.length > 0)).toEqual([await migrationNames()])
  const ledger = await open(serviceUrl)
  await ledger.close()
})

test('a database that is up to date is migrated without a change', async () => {
  const { ownerUrl, adminUrl } = await createTestDatabase()
  const admin = openSessions(adminUrl)
  const before = await dumpSchema(admin)
  expect(await migrate({ databaseUrl: ownerUrl })).toEqual([])
  expect(await dumpSchema(admin)).toBe(before)
})

test('the schema is the one in schema.sql, so that a change of it is seen in review', async () => {
  const { adminUrl } = await createTestDatabase()
  const dump = await dumpSchema(openSessions(adminUrl))
  await expect(dump).toMatchFileSnapshot(fileURLToPath(new URL('schema.sql', import.meta.url)))
})

test('a service refuses to start on a database without a ledger, and says what to run', async () => {
  const { serviceUrl } = await emptied()
  await expect(open(serviceUrl)).rejects.toMatchObject({
    message: /no ledger yet: run `tollbook migrate`/,
    retryable: false,
  })
})

test('a service refuses to start on an older schema, naming what is missing', async () => {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  await openSessions(adminUrl).query(`delete from migration.kysely_migration where name like '0005%'`)
  await expect(open(serviceUrl)).rejects.toMatchObject({
    message: /older.*0005_grants.*tollbook migrate/,
    retryable: false,
  })
})

test('a service refuses to start on a newer schema, naming what it does not know', async () => {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  await openSessions(adminUrl).query(`insert into migration.kysely_migration values ('9999_tomorrow', now()::text)`)
  await expect(open(serviceUrl)).rejects.toMatchObject({ message: /newer.*9999_tomorrow/, retryable: false })
})

test('a database that cannot be reached is a retryable fault', async () => {
  const { serviceUrl } = await createTestDatabase()
  const url = new URL(serviceUrl)
  url.port = '1'
  await expect(open(url.href)).rejects.toMatchObject({ message: /cannot be reached/, retryable: true })
})
