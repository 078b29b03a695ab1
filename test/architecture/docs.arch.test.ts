import { expect, test } from 'vitest'
import { readApiPage, refusalTable } from '../../scripts/refusalTable.ts'

test('the page for callers lists exactly the reasons that the code gives (node scripts/refusalTable.ts writes them)', async () => {
  const page = await readApiPage()
  expect(page).toBe(refusalTable(page))
  expect(page).toContain('| `already_used` |')
})
