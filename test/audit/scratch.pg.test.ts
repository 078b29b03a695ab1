import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { growLedger } from './auditedLedger.ts'
import { auditDatabase } from './tamperingFixture.ts'

test('scratch', async () => {
  const ledger = await createTestDatabase()
  const note = await growLedger({ ...ledger, payments: 42, isNew: true })
  const report = await auditDatabase(ledger.adminUrl, note)
  console.log(
    JSON.stringify(report.findings.slice(0, 12), null, 1),
    report.events,
    JSON.stringify(report.verdicts, null, 1),
    report.balances,
  )
  expect(report.findings).toEqual([])
}, 60_000)
