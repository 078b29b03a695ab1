import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const changelog = `${root}CHANGELOG.md`

// `## 0.2.0 (2026-12-01)`; a release that is not out yet says `(unreleased)`.
const heading = /^## (?<version>\d+\.\d+\.\d+) \((?<date>[^)]*)\)$/gm

/** The newest released version before the first section of a changelog, which is of this tree. Undefined: there is none. */
export function previousVersion(text: string): string | undefined {
  const [, ...earlier] = [...text.matchAll(heading)].flatMap(({ groups }) => (groups === undefined ? [] : [groups]))
  return earlier.find(({ date }) => date !== 'unreleased')?.['version']
}

/**
 * The commit of the release that an upgrade to this tree starts from: its tag, or in a clone without tags the last
 * commit before the changelog began the section of the next version. Undefined: there was no release before this one.
 */
export async function previousCommit(): Promise<string | undefined> {
  const text = await readFile(changelog, 'utf8')
  const version = previousVersion(text)
  if (version === undefined) return undefined
  const tag = `v${version}`
  if ((await git('tag', '--list', tag)) === tag) return tag
  const versions = [...text.matchAll(heading)].map(({ groups }) => groups?.['version'])
  const next = versions[versions.indexOf(version) - 1]
  const begun = await git('log', '--format=%H', '--reverse', `-S## ${next} (`, '--', 'CHANGELOG.md')
  const [first] = begun.split('\n')
  return first === '' ? undefined : git('rev-parse', `${first}^`)
}

async function git(...words: readonly string[]): Promise<string> {
  const { stdout } = await run('git', ['-C', root, ...words])
  return stdout.trim()
}
