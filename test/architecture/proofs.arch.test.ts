import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { proofs } from '../proofs/proofs.ts'
import { parseWords } from '../proofs/proofWords.ts'

const folder = new URL('../proofs/', import.meta.url)

test('CONTRIBUTING.md lists every proof with its programs', async () => {
  const page = await readFile('CONTRIBUTING.md', 'utf8')
  const missing = Object.entries(proofs).filter(([name, { about, programs }]) => {
    const names = Object.keys(programs)
    const listed = names.length === 1 ? '' : names.map((program) => `\`${program}\``).join(' ')
    return !page.includes(`| \`${name}\` | ${listed} | ${about} |`)
  })
  expect(missing.map(([name]) => name)).toEqual([])
})

test('every program of test/proofs that states a verdict belongs to a proof', async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const programs: string[] = []
  for (const file of files) {
    const text = await readFile(new URL(file, folder), 'utf8')
    if (/^const help = `|\bproofCommand\(\s*'/m.test(text)) programs.push(file)
  }
  expect(programs.toSorted()).toEqual(
    Object.values(proofs)
      .flatMap((proof) => Object.values(proof.programs))
      .toSorted(),
  )
})

test('every proof that a page or a comment names exists', () => {
  const text = execFileSync('git', ['grep', '-hoE', '(npm run |`)proof [a-z0-9]+', '--', '*.md', '*.ts', '*.yml'], {
    encoding: 'utf8',
  })
  const mentioned = new Set(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(' ').at(-1) ?? ''),
  )
  expect(mentioned.size).toBeGreaterThan(15)
  expect([...mentioned].filter((name) => parseWords([name]).kind !== 'run')).toEqual([])
})

test('a name of a proof runs its programs in order, a name of a program runs that one, and options go to each', () => {
  const claims = [
    { name: 'race', file: 'race.ts' },
    { name: 'rails', file: 'rails.ts' },
  ]
  expect(parseWords(['claims'])).toEqual({ kind: 'run', programs: claims, options: [] })
  expect(parseWords(['rails', 'race', '--', '--requests', '8'])).toEqual({
    kind: 'run',
    programs: claims.toReversed(),
    options: ['--requests', '8'],
  })
  expect(parseWords(['race', 'racing'])).toEqual({ kind: 'unknown', name: 'racing' })
  expect(parseWords([])).toEqual({ kind: 'list' })
})
