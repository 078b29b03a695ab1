import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { exitCodeOf } from '@tollbook/audit/auditReport'
import { systemClock } from '@tollbook/core/clock'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'
import { split } from '../../../src/pricing/split.ts'
import { growLedger, ledgerKey } from '../../audit/auditedLedger.ts'
import { withTamperedLedger } from '../../audit/tampering.ts'
import { exportWhole } from '../../audit/tamperingFixture.ts'
import { withAdminSession } from '../../support/adminSession.ts'
import { openPool } from '../../kernel/openKernel.ts'
import { openInstance } from '../../store/instance.ts'
import { sampleAddress, sampleMint, sampleReference } from '../../store/samplePayment.ts'
import { afterFile } from '../../support/afterFile.ts'
import { createTestDatabase } from '../../support/database.ts'
import { makeTemporaryDirectory } from '../../support/temporaryDirectory.ts'
import { debitPurse, fulfilRequest, openPurse, type Purse } from './purse.ts'

/* The audit does not know purses. It says so once for each kind, and reports no event of them as wrong. */

const database = await createTestDatabase()
const directory = await makeTemporaryDirectory()
afterFile(directory.remove)
const admin = openPool(database.adminUrl, 1)
const purse: Purse = { reference: sampleReference(), wallet: sampleAddress(), mint: sampleMint }

beforeAll(async () => {
  await admin.query(await readFile(new URL('purse.sql', import.meta.url), 'utf8'))
  await growLedger({ serviceUrl: database.serviceUrl, payments: 12, isNew: true })
  const { kernel } = await openInstance(database.serviceUrl)
  const { shares } = split(100n, defaultSplit)
  const deposit = { endpoint: '/api/data/weather', depositBaseUnits: 140n, burnedBaseUnits: 60n }
  for (const item of [
    openPurse(purse, deposit),
    debitPurse(purse, 1, 70n),
    debitPurse(purse, 2, 70n),
    fulfilRequest(purse, 1, shares),
  ])
    expect(await kernel.append(item)).toMatchObject({ outcome: 'appended' })
  await growLedger({ serviceUrl: database.serviceUrl, payments: 12, isNew: false })
})

async function auditOf(source: Parameters<typeof audit>[0]['source'], resumeFile?: string) {
  return audit({
    source,
    verifierKeys: [ledgerKey],
    ownCheckpoints: [],
    transactions: true,
    chain: undefined,
    resumeFile,
    clock: systemClock,
  })
}

test('a live ledger with purses has one finding for each kind that is not known, and no other', async () => {
  const report = await auditOf({ kind: 'database', url: database.serviceUrl })
  expect(report.findings.map(({ code, subject, message }) => [code, subject, message])).toEqual([
    ['kind_unknown', 'kind purse', 'this auditor does not know the kind: 1 stream with 2 events is not judged'],
    [
      'kind_unknown',
      'kind purse_request',
      'this auditor does not know the kind: 2 streams with 4 events are not judged',
    ],
  ])
  const { integrity, arithmetic, completeness } = report.verdicts
  expect([integrity.status, arithmetic.status, completeness.status]).toEqual(['holds', 'not_re_checkable', 'holds'])
  expect(exitCodeOf(report)).toBe(3)
})

test('an audit that is resumed inside of such a stream has the same findings', async () => {
  const resumeFile = `${directory.path}/resume`
  const first = await auditOf({ kind: 'database', url: database.serviceUrl }, resumeFile)
  const again = await auditOf({ kind: 'database', url: database.serviceUrl }, resumeFile)
  expect(again.findings).toEqual(first.findings)
})

test('an export, which has no declaration, names such a kind by the event that begins its streams', async () => {
  const path = `${directory.path}/ledger.jsonl`
  await exportWhole(database, path)
  const report = await auditOf({ kind: 'export', path })
  expect(report.findings.map(({ code, subject }) => [code, subject])).toEqual([
    ['kind_unknown', 'streams that begin with PurseOpened'],
    ['kind_unknown', 'streams that begin with PurseDebited'],
  ])
})

test('a kind that has no stream yet is one finding', async () => {
  const other = await createTestDatabase()
  await withAdminSession(other.adminUrl, async (session) => {
    await session.query(await readFile(new URL('purse.sql', import.meta.url), 'utf8'))
  })
  const { findings } = await auditOf({ kind: 'database', url: other.serviceUrl })
  expect(findings.map(({ code, subject }) => [code, subject])).toEqual([
    ['kind_unknown', 'kind purse'],
    ['kind_unknown', 'kind purse_request'],
  ])
})

test('what can be checked of such a stream is checked', async () => {
  await withTamperedLedger(database.adminUrl, async ({ sql }) => {
    await sql(`delete from ledger.streams where kind = 'purse_request' and version = 3`)
    await sql(`update ledger.streams set seqs = '{[1,3)}' where kind = 'purse'`)
    await sql(`update ledger.accounts set balance = balance - 1 where name like 'Liabilities:Stored:%'`)
  })
  const { findings } = await auditOf({ kind: 'database', url: database.serviceUrl })
  const codes = findings.map(({ code }) => code)
  expect(codes).toEqual(expect.arrayContaining(['account_differs', 'stream_differs', 'stream_missing']))
})
