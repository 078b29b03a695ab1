import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { environmentNames } from '../../src/config.ts'

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const [, table = ''] = page.split('\n| variable | default | meaning |\n')
// Up to the first line that is not a row: other tables of the page mention variables too.
const rows = table.split('\n\n')[0]?.split('\n') ?? []
const variables = rows.flatMap((row) =>
  [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name]) => name ?? ''),
)

test('each variable that is read has its row in the table of operations.md, and no other variable has one', () => {
  expect(variables.toSorted()).toEqual(environmentNames.toSorted())
})
