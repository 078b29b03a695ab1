import { readFileSync, statSync } from 'node:fs'
import { errorCode } from '@tollbook/core/fault'

export interface VariableValues {
  readonly given: Readonly<Record<string, string>>
  /** Names of variables that have a value or a file. The file may be unreadable. */
  readonly set: readonly string[]
  readonly mistakes: readonly string[]
}

export const fileSuffix = '_FILE'

// Maximum bytes of a value in a file. The limit refuses a file that was named by mistake, such as a backup.
const fileBytesMax = 64 * 1024

/**
 * Reads the value of each variable: the variable itself, or the contents of the file in `NAME_FILE`. Docker, Kubernetes
 * and systemd mount secrets as files, because `docker inspect` does not show them and child processes do not inherit
 * them.
 */
export function readVariables(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): VariableValues {
  const mistakes: string[] = []
  const given: Record<string, string> = {}
  for (const name of names) {
    // Treat an empty variable as unset, because a shell expands an unset variable to an empty text.
    const [value, file] = [env[name] ?? '', env[name + fileSuffix] ?? '']
    if (value !== '') given[name] = value
    if (file === '') continue
    if (value !== '') mistakes.push(`${name} and ${name}${fileSuffix} are both set: remove one of them`)
    else {
      const contents = readValue(file)
      if (typeof contents === 'string') given[name] = contents
      else mistakes.push(`${name}${fileSuffix} must name a file ${contents.problem} (${shownPath(file)})`)
    }
  }
  const set = names.filter((name) => [env[name], env[name + fileSuffix]].some((value = '') => value !== ''))
  return { given, set, mistakes }
}

function readValue(file: string): string | { readonly problem: string } {
  try {
    const facts = statSync(file)
    if (!facts.isFile()) return { problem: 'and no folder or device' }
    if (facts.size > fileBytesMax) return { problem: `of ${fileBytesMax} bytes at most` }
    // Remove the final line break, which editors and `echo` add.
    const value = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    return value === '' ? { problem: 'that is not empty' } : value
  } catch (error) {
    return { problem: `that can be read: ${errorCode(error)}` }
  }
}

/**
 * Shows only a text that begins like a path. Any other text may be the secret itself, set by mistake in place of its
 * path.
 */
function shownPath(file: string): string {
  return /^\.{0,2}\//.test(file) ? `got ${JSON.stringify(file)}` : 'got a text that does not begin with / or ./'
}
