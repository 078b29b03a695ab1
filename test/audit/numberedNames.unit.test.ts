import { expect, test } from 'vitest'
import { AuditFault } from '@tollbook/audit/auditFault'
import { NumberedNames } from '@tollbook/audit/numberedNames'

test('a ledger with more endpoints than any service has ends the audit with a reason, and not as a defect of the program', () => {
  const names = new NumberedNames(Array.from({ length: 100_000 }, (_, number) => `/${number}`))
  expect(names.numberOf('/99999')).toBe(99_999)
  expect(() => names.numberOf('/100000')).toThrow(AuditFault)
})
