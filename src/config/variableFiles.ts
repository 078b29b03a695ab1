import { readFileSync, statSync } from 'node:fs'
import { describeError } from '@tollbook/core/fault'

/** Variables that have a value, and mistakes of those that name a file. */
export interface VariableValues {
  readonly given: Readonly<Record<string, string>>
  /** Names that have a value, or a file that may be unreadable. */
  readonly set: readonly string[]
  readonly mistakes: readonly string[]
}

export const fileSuffix = '_FILE'

// The longest value is a list of URLs. A file of another kind, such as a device, is refused by its size or by this.
const fileBytesMax = 64 * 1024

/**
 * The value of each variable: its own, or the contents of the file that `NAME_FILE` names. Secrets in files, as Docker,
 * Kubernetes and systemd mount them, are not shown by `docker inspect` and not inherited by child processes.
 */
export function readVariables(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): VariableValues {
  const mistakes: string[] = []
  const given: Record<string, string> = {}
  for (const name of names) {
    // A shell turns an unset variable into an empty one.
    const [value, file] = [env[name] ?? '', env[name + fileSuffix] ?? '']
    if (value !== '') given[name] = value
    if (file === '') continue
    if (value !== '') mistakes.push(`${name} and ${name}${fileSuffix} are both set: remove one of them`)
    else {
      const contents = readValue(file)
      if (typeof contents === 'string') given[name] = contents
      else mistakes.push(`${name}${fileSuffix} ${contents.problem} (got ${JSON.stringify(file)})`)
    }
  }
  const set = names.filter((name) => [env[name], env[name + fileSuffix]].some((value = '') => value !== ''))
  return { given, set, mistakes }
}

function readValue(file: string): string | { readonly problem: string } {
  try {
    const facts = statSync(file)
    if (!facts.isFile()) return { problem: 'must name a file' }
    if (facts.size > fileBytesMax) return { problem: `must name a file of ${fileBytesMax} bytes at most` }
    // Editors and `echo` end a file with a line break, which is not part of the value.
    const value = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    return value === '' ? { problem: 'must name a file that is not empty' } : value
  } catch (error) {
    return { problem: `must name a file that can be read: ${describeError(error)}` }
  }
}
