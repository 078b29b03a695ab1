import { expect, test } from 'vitest'
import { describeVerdict, judgeDrill } from '../../src/backup/drillVerdict.ts'

const older = { relation: 'older', finding: 'the database ends at event 5', missingEvents: 7 } as const
const other = { relation: 'other', finding: 'their root is X and not Y', missingEvents: 0 } as const
const continues = { relation: 'continues', finding: 'it continues', missingEvents: 0 } as const
const clean = { failedChecks: [], auditExitCode: 0, comparisons: [continues], hasTarget: false }

test('a drill is sound only if checks, audit and every checkpoint agree', () => {
  expect(judgeDrill(clean)).toBe('sound')
  expect(judgeDrill({ ...clean, auditExitCode: 7 })).toBe('broken')
  expect(judgeDrill({ ...clean, failedChecks: ['grants'] })).toBe('broken')
  expect(judgeDrill({ ...clean, comparisons: [older, other] })).toBe('broken')
  expect(judgeDrill({ ...clean, comparisons: [continues, older] })).toBe('older')
})

test.each([
  [0, 'sound'],
  [1, 'broken'],
  [2, 'broken'],
  [3, 'sound'],
  [4, 'broken'],
])('with exit code %i of the audit a drill is %s', (auditExitCode, verdict) => {
  expect(judgeDrill({ ...clean, auditExitCode })).toBe(verdict)
  expect(describeVerdict({ ...clean, auditExitCode })).toContain(`VERDICT: ${verdict}`)
})

test('each verdict of a drill says what it means and what to do', () => {
  expect(describeVerdict({ ...clean, comparisons: [] })).toContain('without a checkpoint')
  expect(describeVerdict({ ...clean, comparisons: [older] })).toMatch(/lacks 7 events[\s\S]*ends too early/)
  expect(describeVerdict({ ...clean, comparisons: [older], hasTarget: true })).toContain('ended at --target-time')
  // The checkpoint that the backup lacks may be any of them.
  expect(describeVerdict({ ...clean, comparisons: [continues, older] })).toContain('lacks 7 events')
  const broken = describeVerdict({ ...clean, auditExitCode: 6, failedChecks: ['grants: x'], comparisons: [other] })
  for (const text of ['Do not rely', 'grants: x', 'ended with 6', other.finding]) expect(broken).toContain(text)
})
