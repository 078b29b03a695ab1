import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { findProse, type ProseFinding } from './proseFindings.ts'

/*
 * Prose check of docs, comments, messages and names: file:line, the match, and the words to write instead.
 *
 *   node scripts/prose.ts [path …]           fails on any finding, below the given paths only
 *   node scripts/prose.ts --counts [path …]  prints counts for each folder, file and pattern
 */

/**
 * Wire formats of other companies, the check's own patterns and examples, and migrations that landed before a pattern
 * did.
 */
const excluded =
  /^(?:test\/fixtures\/|scripts\/prose|test\/scripts\/prose|migrations\/00(?:02|19)_|LICENSE|package-lock\.json)/
const read = /\.(?:ts|js|mjs|cjs|sql|md|html|ya?ml|sh|env|conf)$|(?:^|\/)Dockerfile$/

interface FileFindings {
  readonly path: string
  readonly findings: readonly ProseFinding[]
}

const words = process.argv.slice(2)
const roots = words.filter((word) => !word.startsWith('--'))
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...roots], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => read.test(path) && !excluded.test(path) && existsSync(path))
  .map((path): FileFindings => ({ path, findings: findProse(path, readFileSync(path, 'utf8')) }))

if (words.includes('--counts')) printCounts()
else check()

function check(): void {
  files.forEach(printFindings)
  process.stdout.write(`prose: ${total()} findings in ${files.length} files\n`)
  process.exitCode = total() === 0 ? 0 : 1
}

function printFindings({ path, findings }: FileFindings): void {
  for (const { line, name, match, advice } of findings)
    process.stdout.write(`${path}:${line}: [${name}] "${match}": ${advice}\n`)
}

function printCounts(): void {
  const rows = (title: string, keysOf: (file: FileFindings) => readonly string[]): void => {
    const counts = new Map<string, number>()
    for (const key of files.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1)
    process.stdout.write(`${title}\n`)
    for (const [key, count] of [...counts].toSorted((a, b) => b[1] - a[1]))
      process.stdout.write(`${String(count).padStart(6)}  ${key}\n`)
  }
  rows('By folder', ({ path, findings }) => findings.map(() => folderOf(path)))
  rows('By pattern', ({ findings }) => findings.map(({ name }) => name))
  rows('By file', ({ path, findings }) => findings.map(() => path))
  process.stdout.write(`${total()} findings in ${files.length} files\n`)
}

function folderOf(path: string): string {
  return path.split('/').slice(0, -1).slice(0, 2).join('/') || '.'
}

function total(): number {
  return files.reduce((sum, { findings }) => sum + findings.length, 0)
}
