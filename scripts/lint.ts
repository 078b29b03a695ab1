import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/*
 * Lints with types, without the files whose result is known. A result depends on the file and on all that it imports,
 * so it is kept under a digest of these, with the rules and the packages. Only results without a finding are kept.
 */

const folders = ['src', 'packages', 'test', 'bench', 'scripts']
const stored = '.vitest/lint.json'
const digestOf = (...parts: readonly string[]) => createHash('sha256').update(parts.join('\0')).digest('hex')

const paths = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:[cm]?[jt]s|json)$/.test(path) && existsSync(path))
const texts = new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
const rules = digestOf(
  ...['.oxlintrc.json', 'tsconfig.json', 'package-lock.json', 'package.json'].map((path) => readFileSync(path, 'utf8')),
  // Global types apply without an import.
  ...paths.filter((path) => /\.d\.ts$|tsconfig\.json$/.test(path)).map((path) => texts.get(path) ?? ''),
)

/** Path of a module of ours. Undefined for one of another package, whose version is in the lock file. */
function resolve(from: string, specifier: string): string | undefined {
  const [, name, inside] = /^@tollbook\/([^/]+)\/(.+)$/.exec(specifier) ?? []
  const path = specifier.startsWith('.') ? join(dirname(from), specifier) : `packages/${name}/src/${inside}.ts`
  return texts.has(path) ? path : undefined
}

const imports = new Map(
  [...texts].map(([path, text]) => {
    const specifiers = [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*'([^']+)'/g)].map(([, specifier = '']) => specifier)
    return [path, specifiers.flatMap((specifier) => resolve(path, specifier) ?? [])]
  }),
)

/** Digest of a file with everything that it imports. */
function closureDigest(path: string): string {
  const reached = new Set([path])
  for (const each of reached) for (const imported of imports.get(each) ?? []) reached.add(imported)
  return digestOf(rules, path, ...[...reached].toSorted().map((each) => `${each}\n${digests.get(each)}`))
}

const digests = new Map([...texts].map(([path, text]) => [path, digestOf(text)]))
const wanted = new Map(paths.filter((path) => !path.endsWith('.json')).map((path) => [path, closureDigest(path)]))
const known = new Set(existsSync(stored) ? z.array(z.string()).parse(JSON.parse(readFileSync(stored, 'utf8'))) : [])
const linted = [...wanted].filter(([, digest]) => !known.has(digest)).map(([path]) => path)

const { status } =
  linted.length === 0 ? { status: 0 } : spawnSync('oxlint', ['--deny-warnings', ...linted], { stdio: 'inherit' })
process.stdout.write(`lint: ${linted.length} of ${wanted.size} files, the others are as they were\n`)
process.exitCode = status ?? 1
if (status === 0) {
  mkdirSync(dirname(stored), { recursive: true })
  writeFileSync(stored, JSON.stringify([...wanted.values()]))
}
