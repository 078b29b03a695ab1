import { expect, test } from 'vitest'
import { AuditState } from '../../packages/audit/src/auditState.ts'
import type { DatabaseSource } from '../../packages/audit/src/databaseSource.ts'
import { Findings } from '../../packages/audit/src/findings.ts'
import { matchReports } from '../../packages/audit/src/matchReports.ts'
import { matchTables } from '../../packages/audit/src/matchTables.ts'
import { served } from './replayedLedger.ts'

/** A database that answers each query with the same rows. */
const sourceOf = (...rows: readonly object[]) => ({ rows: () => Promise.resolve(rows) }) as unknown as DatabaseSource

test.each([
  ['is a view', { is_table: false }, ['it is not a table']],
  ['has row security', { has_policies: true }, ['it has row security']],
  ['computes a column when it is read', { is_computed: true }, ['a column is computed when it is read']],
  ['is as it was created', {}, []],
])('a table of the ledger that %s', async (_, changed, differences) => {
  const findings = new Findings(AuditState.small())
  const plain = { name: 'ledger.events', is_table: true, has_policies: false, is_computed: false }
  await matchTables(findings, sourceOf({ ...plain, ...changed }))
  expect(findings.all().map(({ subject, message }) => [subject, message.split(':')[0]])).toEqual(
    differences.map((difference) => ['table ledger.events', difference]),
  )
})

async function* noRows() {}

test.each([
  ['within the ledger', [{ upto_seq: '3' }], []],
  ['at the end of the ledger', [{ upto_seq: '4' }], []],
  ['beyond the ledger', [{ upto_seq: '5' }], ['report_differs']],
  ['on two places', [{ upto_seq: '3' }, { upto_seq: '3' }], ['report_differs']],
  ['nowhere', [], ['report_differs']],
])('reports that have come to a position %s', async (_, rows, codes) => {
  const ledger = served()
  expect(ledger.events.length).toBeGreaterThanOrEqual(4)
  const last = ledger.replay.position
  const moved = rows.map(({ upto_seq: upto }) => ({ upto_seq: String(last - 4 + Number(upto)) }))
  await matchReports(ledger.replay, sourceOf(...moved), noRows())
  expect(ledger.replay.findings.all().map(({ code }) => code)).toEqual(codes)
})
