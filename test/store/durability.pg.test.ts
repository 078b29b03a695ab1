import { expect, test } from 'vitest'
import { databaseOn } from '../../src/store/database.ts'
import { findDurabilityProblem } from '../../src/store/durability.ts'
import { createTestDatabase } from '../support/database.ts'
import { problemAt } from './durabilityProblem.ts'
import { openInstance, openSessions } from './instance.ts'

const { serviceUrl, adminUrl, name } = await createTestDatabase()

test('I27: a database that keeps what it acknowledges has no problem', async () => {
  expect(await problemAt(serviceUrl)).toBeUndefined()
})

test.each([
  ['off', /turn on synchronous_commit/],
  ['local', undefined],
  ['remote_write', undefined],
  ['remote_apply', undefined],
])('I27: synchronous_commit = %s is told apart', async (value, problem) => {
  const admin = openSessions(adminUrl)
  await admin.query(`alter database ${name} set synchronous_commit = ${value}`)
  const found = await problemAt(serviceUrl)
  await admin.query(`alter database ${name} reset synchronous_commit`)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found).toMatch(problem)
})

test('I27: a database that does not answer is a problem and not an exception', async () => {
  const url = new URL(serviceUrl)
  url.port = '1'
  expect(await problemAt(url.href)).toBe('the database does not answer (ECONNREFUSED)')
})

test('a problem, which callers read too, names neither the address of the database nor its login', async () => {
  const url = new URL(serviceUrl)
  url.password = 'wrong'
  expect(await problemAt(url.href)).toBe('the database does not answer (28P01)')
})

test('I27: with a required standby, its absence is a problem, and so is a login that cannot see it', async () => {
  const problemWith = (databaseUrl: string) => problemAt(databaseUrl, { requiresStandby: true })
  const asAdmin = new URL(adminUrl)
  asAdmin.pathname = `/${name}`
  expect(await problemWith(asAdmin.href)).toBe('no synchronous standby is attached to the database')
  expect(await problemWith(serviceUrl)).toMatch(/the login may not see standbys: GRANT pg_read_all_stats to it/)
})

test('a pooler that drops the timeouts is a problem with its remedy', async () => {
  const plain = databaseOn(openSessions(serviceUrl, 1))
  expect(await findDurabilityProblem(plain)).toBe(
    'a pooler drops lock_timeout and statement_timeout: set them for the login of the service with ALTER ROLE',
  )
})

test('a head that stays locked is a problem within seconds, and gone with the lock', async () => {
  const ledger = await openInstance(serviceUrl)
  const blocker = await openSessions(adminUrl).connect()
  await blocker.query('begin')
  await blocker.query('select from ledger.head where one for update')
  expect(await ledger.findDurabilityProblem()).toMatch(/takes no commits: .*lock timeout/)
  await blocker.query('rollback')
  blocker.release()
  expect(await ledger.findDurabilityProblem()).toBeUndefined()
})
