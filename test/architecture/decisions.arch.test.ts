import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { expect, test } from 'vitest'

const files = globSync('docs/decisions/[0-9]*.md').sort()
const parts = ['Cost', 'Rejected', 'Non-goals']

test.each(files)('%s says its cost, what was rejected and what it is not for', async (file) => {
  const page = await readFile(file, 'utf8')
  const missing = parts.filter((part) => !page.includes(`\n**${part}`))
  expect(missing).toEqual([])
})

test('the list of decisions names every decision once', async () => {
  const list = await readFile('docs/decisions/README.md', 'utf8')
  const linked = [...list.matchAll(/\]\((\d{4}-[a-z0-9-]+\.md)\)/g)].map(([, name]) => name)
  expect(linked).toEqual(files.map((file) => basename(file)))
})
