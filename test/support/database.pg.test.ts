import { Client } from 'pg'
import { expect, test } from 'vitest'
import { withAdminSession } from './adminSession.ts'
import { createTestDatabase } from './database.ts'

const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()])

test('what one test database holds another does not see', async () => {
  await withAdminSession(one.ownerUrl, (session) => session.query('create table only_here (id int)'))
  const { rows } = await withAdminSession(other.ownerUrl, (session) =>
    session.query("select to_regclass('only_here') as found"),
  )
  expect(rows).toEqual([{ found: null }])
})

test('it is migrated, durable, and the service role is a member of the group that the migrations grant to', async () => {
  const question = `
    select current_user::text, pg_has_role('tollbook_service', 'usage') as is_service,
      (select count(*)::int from ledger.events) as events, current_setting('fsync') as fsync`
  const { rows } = await withAdminSession(one.serviceUrl, (session) => session.query(question))
  expect(rows).toEqual([{ current_user: 'tollbook_api', is_service: true, events: 0, fsync: 'on' }])
})

test('a session that is left open fails the drop and is named with its last query, and the database is still dropped', async () => {
  const leaky = await createTestDatabase()
  const session = new Client({ connectionString: leaky.serviceUrl, application_name: 'forgotten pool' })
  session.on('error', () => undefined)
  await session.connect()
  await session.query('select 42')
  const message = await leaky.drop(500).then(
    () => 'dropped without complaint',
    (error: unknown) => String(error),
  )
  expect(message).toMatch(/left 1 database session.*\nforgotten pool: tollbook_api, idle, last query: select 42/)
  const found = await withAdminSession(one.adminUrl, (session) =>
    session.query('select from pg_database where datname = $1', [leaky.name]),
  )
  expect(found.rowCount).toBe(0)
})
