import { fileURLToPath } from 'node:url'
import { readInstalled } from '@tollbook/audit/installedFunctions'
import { systemClock } from '@tollbook/core/clock'
import { audit } from '@tollbook/audit/audit'
import { exitCodeOf } from '@tollbook/audit/auditReport'
import { expect, test } from 'vitest'
import { findDifferingFunctions } from '../../src/cli/differingFunctions.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { ledgerKey } from './auditedLedger.ts'

async function openDatabase() {
  const database = await createTestDatabase()
  const admin = openPool(database.adminUrl, 1)
  const run = async (text: string) => (await admin.query<{ name: string; text: string }>(text)).rows
  const replace = async (name: string, change: (text: string) => string): Promise<void> => {
    const [found] = await run(
      `select proname as name, pg_get_functiondef(oid) as text from pg_proc where oid::regproc::text = '${name}'`,
    )
    await admin.query(change(found?.text ?? ''))
  }
  return { ...database, admin, run, replace }
}

function auditOf(url: string) {
  return audit({
    source: { kind: 'database', url },
    verifierKeys: [ledgerKey],
    ownCheckpoints: [],
    transactions: false,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
  })
}

test('the audit knows the functions of this release (npx vitest run test/audit/releasedFunctions -u writes them)', async () => {
  const { run } = await openDatabase()
  const file = `/* The SHA-256 of each function of this release. Written by test/audit/releasedFunctions.pg.test.ts. */

const lines = \`
${(await readInstalled(run)).join('\n')}
\`

export const releasedFunctions: readonly { readonly name: string; readonly digest: string }[] = lines
  .trim()
  .split('\\n')
  .map((line) => ({ digest: line.slice(0, line.indexOf(' ')), name: line.slice(line.indexOf(' ') + 1) }))
`
  const path = fileURLToPath(new URL('../../packages/audit/src/releasedFunctions.ts', import.meta.url))
  await expect(file).toMatchFileSnapshot(path)
})

test('a replaced function is found by audit and doctor, and put back by the next migration', async () => {
  const { serviceUrl, ownerUrl, run, replace } = await openDatabase()
  expect((await auditOf(serviceUrl)).findings).toEqual([])
  await replace('ledger.append_as', (text) => text.replace('head record;', 'head record; planted integer;'))
  const name = expect.stringMatching(/^ledger\.append_as\(/)
  const report = await auditOf(serviceUrl)
  expect(report.findings).toMatchObject([{ code: 'function_differs', subject: name }])
  expect(exitCodeOf(report)).toBe(7)
  expect(await findDifferingFunctions(run)).toEqual([
    expect.stringMatching(/^ledger\.append_as\(.* is not the one of this release$/),
  ])

  expect(await migrate({ databaseUrl: ownerUrl, findDifferingFunctions })).toContain('ledger/append')
  expect(await findDifferingFunctions(run)).toEqual([])
  expect((await auditOf(serviceUrl)).findings).toEqual([])
  expect(await migrate({ databaseUrl: ownerUrl, findDifferingFunctions })).toEqual([])
})

test.each([
  ['added', `create function ledger.planted() returns integer language sql as 'select 1'`],
  ['without its rights', 'alter function ledger.append_as security invoker'],
  ['with another search path', `alter function ledger.append_as set search_path = 'public'`],
  ['removed', 'drop function ledger.probe_commit'],
  [
    'replaced, which guards the rows',
    `create or replace function ledger.refuse_change() returns trigger language plpgsql as 'begin return new; end'`,
  ],
])('a function %s is found', async (_, statement) => {
  const { serviceUrl, admin } = await openDatabase()
  await admin.query(statement)
  const { findings } = await auditOf(serviceUrl)
  expect(findings).toMatchObject([{ code: 'function_differs' }])
})

test('functions of another release are not compared, and the audit says so instead of accusing them', async () => {
  const { serviceUrl, admin, run, replace } = await openDatabase()
  await replace('ledger.probe_commit', (text) => text.replace(/\$function\$/, '$function$\n-- Newer.'))
  await admin.query(`update ledger.code set digest = sha256('newer') where name like '%append'`)
  const report = await auditOf(serviceUrl)
  expect(report.findings).toEqual([])
  expect(report.verdicts.integrity.notChecked).toContainEqual(expect.stringContaining('another release'))
  expect(await findDifferingFunctions(run)).toBeUndefined()
})

test('a file that an earlier release had applied does not keep the functions from being compared', async () => {
  const { serviceUrl, admin } = await openDatabase()
  await admin.query(
    `insert into ledger.code (name, digest, applied_at) values ('functions/dropped', sha256('x'), now())`,
  )
  expect((await auditOf(serviceUrl)).findings).toEqual([])
  await admin.query('alter function ledger.append_as security invoker')
  expect((await auditOf(serviceUrl)).findings).toMatchObject([{ code: 'function_differs' }])
})

test('the audit lists a kinds file and a function that it does not know, and accuses nothing', async () => {
  const { serviceUrl, admin, run } = await openDatabase()
  await admin.query(`insert into ledger.code (name, digest, applied_at) values ('kinds/newer', sha256('x'), now())`)
  await admin.query(`create function ledger.planted() returns integer language sql as 'select 1'`)
  const { findings, verdicts } = await auditOf(serviceUrl)
  expect(findings).toEqual([])
  expect(verdicts.integrity.notChecked).toContainEqual(
    'SQL that this audit does not know, perhaps of a newer release: file kinds/newer, ledger.planted()',
  )
  expect(await findDifferingFunctions(run)).toEqual([])
})
