import { expect, test } from 'vitest'
import { readVerificationPage, withCaseTables } from '../../scripts/verificationTable.ts'
import { caseTables } from './cases/caseTables.ts'
import { allCases } from './cases/allCases.ts'
import { bindingCases } from './cases/bindingCases.ts'
import { ageCases, priceCases } from './cases/priceCases.ts'
import { sendingCases } from './cases/sendingCases.ts'

test('docs/verification.md lists exactly the cases that are run (node scripts/verificationTable.ts writes them)', async () => {
  const page = await readVerificationPage()

  expect(page).toBe(withCaseTables(page))
  for (const name of caseTables().keys()) expect(page, `the table of rule ${name}`).toContain(`<!-- cases:${name} -->`)
})

test('docs/verification.md explains each rule that a case is numbered by', async () => {
  const page = await readVerificationPage()
  const rules = [...allCases, ...bindingCases, ...ageCases, ...priceCases, ...sendingCases].map(({ rule }) => rule)

  for (const rule of new Set(rules)) expect(page).toContain(`**${rule}**`)
})

test('every rule about a landed transaction has a case that is accepted and one that is not', () => {
  for (const [rule, cases] of Map.groupBy(allCases, (each) => each.rule)) {
    const accepted = cases.filter(({ verdict }) => verdict === 'accepted').length
    expect(accepted, `accepted cases of rule ${rule}`).toBeGreaterThan(0)
    expect(accepted, `cases of rule ${rule} that are not all accepted`).toBeLessThan(cases.length)
  }
})

test('no two cases have the same words', () => {
  const names = [...allCases, ...bindingCases, ...ageCases, ...priceCases, ...sendingCases].map(
    ({ rule, says }) => `${rule} ${says}`,
  )

  expect(names.length).toBe(new Set(names).size)
})
