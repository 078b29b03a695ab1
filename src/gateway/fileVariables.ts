import type { FileMistake, FilePath } from './fileMistake.ts'

/**
 * Reads a variable of the environment, or of the file in `NAME_FILE`. The problem completes a sentence about the
 * variable.
 */
export type ReadVariable = (name: string) => { readonly value: string } | { readonly problem: string }

// Members that contain JSON of the operator's API, in which `${` may be ordinary text.
const literal = new Set(['parameters', 'example'])
const reference = /\$(\$?)\{([^}]*)\}/g
const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Replaces `${NAME}` in the texts of a file by the variable NAME. The escaped form `$${NAME}` becomes the text
 * `${NAME}`.
 */
export function fillVariables(value: unknown, readVariable: ReadVariable) {
  const mistakes: FileMistake[] = []
  const fillText = (text: string, path: FilePath) =>
    text.replaceAll(reference, (whole, escape: string, name: string) => {
      if (escape !== '') return whole.slice(1)
      const read = namePattern.test(name) ? readVariable(name) : { problem: 'is not the name of a variable' }
      if ('value' in read) return read.value
      mistakes.push({ path, message: `needs the variable ${name.slice(0, 80)}, which ${read.problem}` })
      return ''
    })
  const fill = (node: unknown, path: FilePath): unknown => {
    if (typeof node === 'string') return fillText(node, path)
    if (Array.isArray(node)) return node.map((one, index) => fill(one, [...path, index]))
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([name, one]) => [name, literal.has(name) ? one : fill(one, [...path, name])]),
    )
  }
  return { value: fill(value, []), mistakes }
}

const secretName = /auth|key|token|secret|cookie|password|signature/i

/** Finds secrets that are written in the headers of upstreams, because repositories and backups could publish them. */
export function findWrittenSecrets(value: unknown): readonly FileMistake[] {
  const upstreams = membersOf(membersOf(value).find(([name]) => name === 'upstreams')?.[1])
  return upstreams.flatMap(([upstream, entry]) =>
    membersOf(membersOf(entry).find(([name]) => name === 'headers')?.[1]).flatMap(([header, text]) => {
      const isWritten = secretName.test(header) && typeof text === 'string' && !/\$\{[^}]*\}/.test(text)
      const message = `holds a secret; write \${NAME} and set the variable NAME, or NAME_FILE`
      return isWritten ? [{ path: ['upstreams', upstream, 'headers', header], message }] : []
    }),
  )
}

function membersOf(value: unknown): readonly [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}
