import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const changelog = fileURLToPath(new URL('../../../CHANGELOG.md', import.meta.url))

// `## 0.2.0 (2026-12-01)`; a release that is not out yet says `(unreleased)`.
const heading = /^## (?<version>\d+\.\d+\.\d+) \((?<date>[^)]*)\)$/gm

/** The newest released version before the first section of a changelog, which is of this tree. Undefined: there is none. */
export function previousVersion(text: string): string | undefined {
  const [, ...earlier] = [...text.matchAll(heading)].flatMap(({ groups }) => (groups === undefined ? [] : [groups]))
  return earlier.find(({ date }) => date !== 'unreleased')?.['version']
}

/** The git tag of the release that an upgrade to this tree starts from. */
export async function previousTag(): Promise<string | undefined> {
  const version = previousVersion(await readFile(changelog, 'utf8'))
  return version === undefined ? undefined : `v${version}`
}
