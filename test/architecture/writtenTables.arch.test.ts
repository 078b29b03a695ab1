import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { z } from 'zod'

/* Tables that are written by hand, because their second column is prose, and that the code must agree with. */

/** Rows of the table below a heading row, as cells without their spaces. */
function rowsOf(page: string, heading: string): readonly (readonly string[])[] {
  const [, after = ''] = page.split(`${heading}\n`)
  const [table = ''] = after.split('\n\n')
  const lines = table.split('\n').filter((line) => line.startsWith('| '))
  return lines.map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

test('docs/ledger.md lists exactly the accounts that migrations/kinds declares, with their limits', async () => {
  const page = await readFile('docs/ledger.md', 'utf8')
  const files = await Promise.all(globSync('migrations/kinds/*.sql').map((path) => readFile(path, 'utf8')))
  const declared = files
    .flatMap((text) => [...text.matchAll(/^ {2}\('\w+', '([A-Z]\w+:[\w:]+)', (?:true|false), (null|0), (null|0), /gm)])
    // A debt is never in debit. Memo accounts hold no money, so the page gives them no limit.
    .map(
      ([, prefix = '', , ceiling]) => `${prefix}${ceiling === '0' && !prefix.startsWith('Memo:') ? ', limited' : ''}`,
    )
  const listed = rowsOf(page, '| account | meaning | limit |').flatMap(([names = '', , limit]) =>
    [...names.matchAll(/`([^`<]+)(?:<\w+>)?`/g)].map(([, prefix]) => `${prefix}${limit === '' ? '' : ', limited'}`),
  )
  expect(declared.length).toBeGreaterThan(10)
  expect(listed.toSorted()).toEqual(declared.toSorted())
})

const rules = z.object({ forbidden: z.array(z.object({ name: z.string(), comment: z.string().optional() })) })

test('ARCHITECTURE.md lists exactly the imports that .dependency-cruiser.cjs permits', async () => {
  const { forbidden } = rules.parse(createRequire(import.meta.url)('../../.dependency-cruiser.cjs'))
  const permitted = forbidden
    .filter(({ name }) => name.startsWith('layer-'))
    .map(({ comment = '' }) => comment.replace(' may import only itself', '').split(', '))
    // The page does not tell `config.ts` from the folder with its parts.
    .map(([folder = '', ...allowed]) => [folder, new Set(allowed.map((name) => name.replace(/\.ts$/, '')))] as const)
    .map(([folder, allowed]) => `${folder}: ${[...allowed].toSorted().join(', ')}`)
  const page = await readFile('ARCHITECTURE.md', 'utf8')
  const listed = rowsOf(page, '| folder | may import (besides itself) |')
    .filter(([folders]) => folders !== 'compose, start')
    .flatMap(([folders = '', allowed = '']) => {
      const names = allowed === '–' ? [] : allowed.split(', ').map(pathOf)
      return folders.split(', ').map((folder) => `${pathOf(folder)}: ${names.toSorted().join(', ')}`)
    })
  expect(permitted.length).toBeGreaterThan(20)
  expect(listed.toSorted()).toEqual(permitted.toSorted())
})

/** The path behind the short name in the page. */
function pathOf(name: string): string {
  if (name === 'all packages') return 'packages/'
  if (['core', 'ledger', 'localnet'].includes(name)) return `packages/${name}`
  return name.includes('/') ? name : `src/${name}`
}
