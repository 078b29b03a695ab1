import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { findProse, type ProseFinding } from './proseFindings.ts'

/*
 * Prose check of docs, comments, messages and names: file:line, the match, and the words to write instead.
 *
 *   node scripts/prose.ts                    fails on findings beyond the baseline
 *   node scripts/prose.ts --all [path …]     prints every finding below the given paths
 *   node scripts/prose.ts --counts [path …]  prints counts for each folder, file and pattern
 *   node scripts/prose.ts --lower            lowers the baseline to today's counts; it never raises one
 */

const baselinePath = 'scripts/proseBaseline.json'
/** Wire formats of other companies, and the check's own patterns and examples. */
const excluded = /^(?:test\/fixtures\/|scripts\/prose|test\/scripts\/prose|LICENSE|package-lock\.json)/
const read = /\.(?:ts|js|mjs|cjs|sql|md|html|ya?ml|sh|env|conf)$|(?:^|\/)Dockerfile$/

interface FileFindings {
  readonly path: string
  readonly findings: readonly ProseFinding[]
}

const [mode, ...roots] = process.argv.slice(2)
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...roots], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => read.test(path) && !excluded.test(path) && existsSync(path))
  .map((path): FileFindings => ({ path, findings: findProse(path, readFileSync(path, 'utf8')) }))

if (mode === '--all') files.forEach(printFindings)
else if (mode === '--counts') printCounts()
else if (mode === '--lower') lowerBaseline()
else check()

/** Counts by the file's name without its folder, so that moving a file keeps its allowance. */
function countsByName(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { path, findings } of files)
    if (findings.length > 0) counts.set(basename(path), (counts.get(basename(path)) ?? 0) + findings.length)
  return counts
}

function readBaseline(): ReadonlyMap<string, number> {
  if (!existsSync(baselinePath)) return new Map()
  const parsed: unknown = JSON.parse(readFileSync(baselinePath, 'utf8'))
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`${baselinePath} must be an object of counts`)
  return new Map(Object.entries(parsed).map(([name, count]) => [name, Number(count)]))
}

function check(): void {
  const baseline = readBaseline()
  const counts = countsByName()
  const risen = new Set([...counts].filter(([name, count]) => count > (baseline.get(name) ?? 0)).map(([name]) => name))
  for (const file of files) if (risen.has(basename(file.path))) printFindings(file)
  for (const name of risen)
    process.stdout.write(`${name}: ${counts.get(name) ?? 0} findings, ${baseline.get(name) ?? 0} allowed\n`)
  const allowed = [...baseline.values()].reduce((sum, count) => sum + count, 0)
  process.stdout.write(`prose: ${total()} findings in ${files.length} files, ${allowed} allowed by the baseline\n`)
  process.exitCode = risen.size === 0 ? 0 : 1
}

function lowerBaseline(): void {
  const first = !existsSync(baselinePath)
  const baseline = readBaseline()
  const counts = countsByName()
  const lowered = [...counts]
    .map(([name, count]): [string, number] => [name, first ? count : Math.min(count, baseline.get(name) ?? 0)])
    .filter(([, count]) => count > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(baselinePath, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`)
  check()
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
