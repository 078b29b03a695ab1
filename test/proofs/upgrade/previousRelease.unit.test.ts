import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { previousVersion } from './previousRelease.ts'

test.each([
  ['the first release', '## 0.2.0 (unreleased)', undefined],
  ['the first release, when it is out', '## 0.2.0 (2026-12-01)', undefined],
  ['the next one', '## 0.2.1 (unreleased)\n\nFixes.\n\n## 0.2.0 (2026-12-01)', '0.2.0'],
  ['the next one, when it is out', '## 0.2.1 (2026-12-09)\n## 0.2.0 (2026-12-01)', '0.2.0'],
  [
    'one after a version that never came out',
    '## 0.3.0 (unreleased)\n## 0.2.1 (unreleased)\n## 0.2.0 (2026-12-01)',
    '0.2.0',
  ],
])('the release before %s is read from the changelog', (_, sections, version) => {
  expect(previousVersion(`# Changelog\n\n${sections}\n`)).toBe(version)
})

test('each section of the changelog of this tree names a version with its date, or as unreleased', async () => {
  const text = await readFile('CHANGELOG.md', 'utf8')
  const sections = text.split('\n').filter((line) => line.startsWith('## '))
  expect(sections.filter((line) => !/^## \d+\.\d+\.\d+ \((?:\d{4}-\d{2}-\d{2}|unreleased)\)$/.test(line))).toEqual([])
  expect(sections[0]).toBeDefined()
})
