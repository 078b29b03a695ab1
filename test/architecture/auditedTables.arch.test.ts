import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('docs/audit.md says of every table whether the audit compares it', () => {
  const page = readFileSync('docs/audit.md', 'utf8')
  const sql = globSync('migrations/*.sql').map((path) => readFileSync(path, 'utf8'))
  const tables = sql.flatMap((text) => [...text.matchAll(/^create table (\w+\.\w+)/gm)].map(([, name = '']) => name))
  expect(tables.length).toBeGreaterThan(25)
  expect(tables.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
