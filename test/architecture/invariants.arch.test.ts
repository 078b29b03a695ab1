import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { environmentNames } from '../../src/config.ts'
import { ledgerEvents } from '../../src/payment/events.ts'

const numbered = /^\| (I\d+) \|/gm

test('each invariant of docs/invariants.md has a test that names it', async () => {
  const page = await readFile('docs/invariants.md', 'utf8')
  const files = globSync('test/**/*.test.ts')
  const sources = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const invariants = [...page.matchAll(numbered)].map(([, name]) => name ?? '')
  expect(invariants.length).toBeGreaterThanOrEqual(20)
  const untested = invariants.filter(
    (name) => !sources.some((source) => new RegExp(`(test|describe)[^\\n]*\\b${name}\\b`).test(source)),
  )
  expect(untested).toEqual([])
})

test('docs/ledger.md names every kind of event and every state of a payment', async () => {
  const page = await readFile('docs/ledger.md', 'utf8')
  const declaration = await readFile('migrations/kinds/payment.sql', 'utf8')
  const states = [...declaration.matchAll(/\('payment\.\w+', 'payment', '\w*(?:\.final)?', '(\w+)/g)].map(
    ([, state]) => state ?? '',
  )
  expect(new Set(states).size).toBeGreaterThan(5)
  const names = [...ledgerEvents.map(({ kind }) => kind), ...states]
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test('the pages for operators name every variable', async () => {
  const pages = await Promise.all(['operations', 'providers'].map((name) => readFile(`docs/${name}.md`, 'utf8')))
  const missing = environmentNames.filter((name) => !pages.some((page) => page.includes(`\`${name}\``)))
  expect(missing).toEqual([])
})
