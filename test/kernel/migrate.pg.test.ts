import { cp, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { migrate, readSchema, type SchemaSources } from '@tollbook/ledger/migrate'
import { checkSchemaVersion } from '@tollbook/ledger/schemaVersion'
import { describe, expect, test } from 'vitest'
import { schemaSources } from '../../src/store/migrate.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openPool } from './openKernel.ts'
import { dumpSchema } from './schemaDump.ts'

/** A database of the file's own with nothing in it. */
async function emptied() {
  const database = await createTestDatabase()
  await openPool(database.adminUrl, 1).query(
    'drop schema ledger, work, paywall, news, reports, signer, migration cascade',
  )
  return database
}

const versionOf = (databaseUrl: string, sources: SchemaSources = schemaSources) => {
  const pool = openPool(databaseUrl, 1)
  return checkSchemaVersion((text) => pool.query(text), sources)
}

/** A copy of the service's SQL that a test may edit. */
async function copyOfSources(): Promise<
  SchemaSources & { edit: (file: string, change: (text: string) => string) => Promise<void> }
> {
  const root = await makeScratchDirectory()
  await cp(schemaSources.numbered, root, { recursive: true })
  return {
    numbered: root,
    code: [`${root}/functions`, `${root}/kinds`],
    async edit(file, change) {
      const text = await readFile(`${root}/${file}`, 'utf8').catch(() => '')
      await writeFile(`${root}/${file}`, change(text))
    },
  }
}

test('of twenty processes that migrate an empty database at once one applies everything, and none fails', async () => {
  const { ownerUrl, serviceUrl } = await emptied()
  const sources = schemaSources
  const applied = await Promise.all(Array.from({ length: 20 }, () => migrate({ databaseUrl: ownerUrl, sources })))
  const { numbered, code } = await readSchema(sources)
  expect(applied.filter((names) => names.length > 0)).toEqual([[...numbered, ...code].map(({ name }) => name)])
  expect(await versionOf(serviceUrl)).toEqual({ fits: true })
})

test('a database that is up to date is migrated without a change', async () => {
  const { ownerUrl, adminUrl } = await createTestDatabase()
  const admin = openPool(adminUrl, 2)
  const before = await dumpSchema(admin)
  expect(await migrate({ databaseUrl: ownerUrl, sources: schemaSources })).toEqual([])
  expect(await dumpSchema(admin)).toBe(before)
})

test('the schema is the one in schema.sql, so that a change of it is seen in review', async () => {
  const { adminUrl } = await createTestDatabase()
  const dump = await dumpSchema(openPool(adminUrl, 2))
  await expect(dump).toMatchFileSnapshot(fileURLToPath(new URL('schema.sql', import.meta.url)))
})

test('a changed function is applied again, alone, and a service that knows the other text refuses to start', async () => {
  const { ownerUrl, serviceUrl } = await createTestDatabase()
  const sources = await copyOfSources()
  expect(await versionOf(serviceUrl, sources)).toEqual({ fits: true })
  await sources.edit('functions/seal.sql', (text) => `-- Changed.\n${text}`)
  const differs = {
    fits: false,
    advice: expect.stringMatching(/differs.*\(functions\/seal\).*tollbook migrate/),
    needsMigration: true,
  }
  expect(await versionOf(serviceUrl, sources)).toEqual(differs)
  expect(await migrate({ databaseUrl: ownerUrl, sources })).toEqual(['functions/seal'])
  expect(await versionOf(serviceUrl, sources)).toEqual({ fits: true })
  expect(await versionOf(serviceUrl)).toEqual(differs)
})

test('a new function is closed to everyone, whichever role migrates', async () => {
  const { adminUrl } = await createTestDatabase()
  const sources = await copyOfSources()
  const setup = 'language sql security definer set search_path = pg_catalog, pg_temp'
  await sources.edit('functions/tomorrow.sql', () => `create function ledger.tomorrow() returns void ${setup} as ''`)
  expect(await migrate({ databaseUrl: adminUrl, sources })).toEqual(['functions/tomorrow'])
  const { rows } = await openPool(adminUrl, 1).query(
    "select has_function_privilege('tollbook_reader', 'ledger.tomorrow()', 'execute') as may",
  )
  expect(rows).toEqual([{ may: false }])
})

test('a failing file changes nothing, and is named', async () => {
  const { ownerUrl, adminUrl } = await createTestDatabase()
  const sources = await copyOfSources()
  await sources.edit('functions/news.sql', (text) => `-- Changed.\n${text}`)
  await sources.edit('kinds/setting.sql', (text) => `${text}\nselect 1 / 0;`)
  const admin = openPool(adminUrl, 2)
  const digests = async () => (await admin.query('select name, digest, applied_at from ledger.code order by 1')).rows
  const before = await digests()
  await expect(migrate({ databaseUrl: ownerUrl, sources })).rejects.toMatchObject({
    name: 'Fault',
    retryable: false,
    message: /migration kinds\/setting failed; nothing was changed/,
  })
  expect(await digests()).toEqual(before)
})

test('a numbered migration that was edited after it was applied is refused', async () => {
  const { ownerUrl, serviceUrl } = await createTestDatabase()
  const sources = await copyOfSources()
  await sources.edit('0004_seal.sql', (text) => `${text}\n-- Edited.`)
  await expect(migrate({ databaseUrl: ownerUrl, sources })).rejects.toMatchObject({
    message: /0004_seal differs.*add a new migration/,
  })
  expect(await versionOf(serviceUrl, sources)).toMatchObject({
    fits: false,
    advice: /0004_seal.*start the release/,
    needsMigration: false,
  })
})

describe('a newer database', () => {
  async function migrateTomorrow(more = '') {
    const { ownerUrl, serviceUrl } = await createTestDatabase()
    const sources = await copyOfSources()
    const text = `-- Why: a test.\ncreate table paywall.tomorrow (day date not null);\n${more}`
    await sources.edit('0099_tomorrow.sql', () => text)
    await sources.edit('functions/seal.sql', (seal) => `-- Changed.\n${seal}`)
    expect(await versionOf(serviceUrl, sources)).toMatchObject({
      fits: false,
      advice: /older.*missing 0099_tomorrow.*tollbook migrate/,
      needsMigration: true,
    })
    expect(await migrate({ databaseUrl: ownerUrl, sources })).toEqual(['0099_tomorrow', 'functions/seal'])
    expect(await versionOf(serviceUrl, sources)).toEqual({ fits: true })
    return { ownerUrl, serviceUrl, sources }
  }

  test('takes programs of earlier releases, which say what differs and migrate nothing back', async () => {
    const { ownerUrl, serviceUrl, sources } = await migrateTomorrow()
    const difference = expect.stringMatching(/newer.*0099_tomorrow.*differs: functions\/seal/)
    expect(await versionOf(serviceUrl)).toEqual({ fits: true, difference })
    expect(await migrate({ databaseUrl: ownerUrl, sources: schemaSources })).toEqual([])
    expect(await versionOf(serviceUrl, sources)).toEqual({ fits: true })
    // A newer migration is accepted, and a changed one is not.
    await openPool(ownerUrl, 1).query("update migration.applied set digest = '\\x00' where name like '0004_%'")
    const advice = expect.stringMatching(/0004_.*start the release/)
    expect(await versionOf(serviceUrl)).toEqual({ fits: false, advice, needsMigration: false })
  })

  test('refuses the programs that its migrations have left behind', async () => {
    const contracted = 'update migration.compatibility set oldest_program = 99;'
    const { ownerUrl, serviceUrl } = await migrateTomorrow(contracted)
    expect(await versionOf(serviceUrl)).toMatchObject({
      fits: false,
      advice: /newer.*0099_tomorrow.*takes programs from migration 99 on.*start the release/,
      needsMigration: false,
    })
    await expect(migrate({ databaseUrl: ownerUrl, sources: schemaSources })).rejects.toMatchObject({
      message: /newer than this program/,
    })
  })
})

test('a database of a commit before the first release is refused by service and migration, and stays as it is', async () => {
  const { adminUrl, ownerUrl, serviceUrl } = await createTestDatabase()
  const admin = openPool(adminUrl, 2)
  // Its names and texts are others, as of any commit before 0.2.0.
  await admin.query(`update migration.applied set digest = '\\x00', name = replace(name, '0002_guards', '0002_ledger')`)
  const before = await dumpSchema(admin)
  const message = expect.stringMatching(
    /made before the first release .*0002_ledger.* use an empty database.*TOLLBOOK_HOME/,
  )
  expect(await versionOf(serviceUrl)).toEqual({ fits: false, advice: message, needsMigration: false })
  await expect(migrate({ databaseUrl: ownerUrl, sources: schemaSources })).rejects.toMatchObject({
    name: 'Fault',
    message,
    retryable: false,
  })
  expect(await dumpSchema(admin)).toBe(before)
})

test('a service refuses to start on a database without a ledger, and says what to run', async () => {
  const { serviceUrl } = await emptied()
  expect(await versionOf(serviceUrl)).toEqual({
    fits: false,
    advice: 'the database has no ledger yet: run `tollbook migrate`',
    needsMigration: true,
  })
})
