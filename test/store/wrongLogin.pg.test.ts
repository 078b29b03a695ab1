import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { errorText, Fault } from '@tollbook/core/fault'
import { assert } from '@tollbook/core/assert'
import { silentLog } from '../../src/machine/log.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'

/* Messages for an operator who names the wrong login. */

const { serviceUrl, adminUrl, ownerUrl } = await createTestDatabase()

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert(error instanceof Fault, `a Fault is thrown, not ${String(error)}`)
  return errorText(error)
}

const open = (databaseUrl: string) =>
  openLedger({ databaseUrl, applicationName: 'wrong login', clock: systemClock, log: silentLog })

function withPassword(url: string, password: string): string {
  const changed = new URL(url)
  changed.password = password
  return changed.href
}

test('a service with a wrong password says that it is the password', async () => {
  expect(await refusalOf(open(withPassword(serviceUrl, 'wrong')))).toMatch(
    /^the database of DATABASE_URL cannot be reached: password authentication failed for user/,
  )
})

test.each([
  ['of no group', []],
  ['of readers', ['tollbook_reader']],
])('a service with a login %s is refused with the group that the login lacks', async (_name, groups) => {
  const text = await refusalOf(open(await makeMemberLogin(adminUrl, ...groups)))
  expect(text).toMatch(/tollbook_service.*permission denied/)
})

test.each([
  ['the owner of the tables', ownerUrl, /tollbook_owner, which owns tables/],
  ['a superuser', adminUrl, /which is a superuser/],
])('a service with the login of %s warns that nothing protects the ledger from it', async (_name, url, who) => {
  const entries: object[] = []
  const log = { ...silentLog, warn: (entry: object) => void entries.push(entry) }
  const ledger = await openLedger({ databaseUrl: url, applicationName: 'wrong login', clock: systemClock, log })
  await ledger.close()
  const fix = expect.stringContaining('a login that is a member of tollbook_service only')
  expect(entries).toEqual([{ event: 'login_unprotected', problem: expect.stringMatching(who), fix }])
})

test('a migration with a login that may not migrate names the variable and the right that it lacks', async () => {
  expect(await refusalOf(migrate({ databaseUrl: await makeMemberLogin(adminUrl) }))).toMatch(
    /^the role of MIGRATION_DATABASE_URL must own the database and be allowed to create roles: permission denied/,
  )
  expect(await refusalOf(migrate({ databaseUrl: withPassword(adminUrl, 'wrong') }))).toMatch(
    /^the database of MIGRATION_DATABASE_URL cannot be reached: password authentication failed/,
  )
})
