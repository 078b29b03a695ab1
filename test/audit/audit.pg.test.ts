import { expect, test } from 'vitest'
import { audit, type AuditOptions } from '../../src/audit/audit.ts'
import { systemClock } from '../../src/primitives/clock.ts'
import { createTestDatabase } from '../support/database.ts'
import { bookKey, growBook } from './auditBook.ts'

const { serviceUrl } = await createTestDatabase()
const note = await growBook({ serviceUrl, payments: 40, isNew: true })

function auditBook(given: Partial<AuditOptions> = {}) {
  return audit({
    source: { kind: 'database', url: serviceUrl },
    verifierKeys: [bookKey],
    keptCheckpoints: [{ name: 'kept', note }],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
    ...given,
  })
}

test('a book that nobody has touched holds in everything that was asked', async () => {
  const report = await auditBook()
  expect(report.findings).toEqual([])
  console.log(JSON.stringify(report.verdicts, null, 1))
})
