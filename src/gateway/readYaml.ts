import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml'
import type { FileMistake, FilePath } from './fileMistake.ts'

// Maximum of YAML aliases, because nested aliases can expand a short text without limit.
const aliasesMax = 100

/** Replaces messages of the parser that speak of its programming interface. */
const ownMessages: ReadonlyMap<string, string> = new Map([
  ['MULTIPLE_DOCS', 'the file has more than one document; remove the line ---'],
  ['NON_STRING_KEY', 'a name must be text'],
])

export function readYaml(file: string, text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true, uniqueKeys: true, prettyErrors: false })
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  /** Formats mistakes as `FILE:LINE:COLUMN: PATH: MESSAGE`, sorted by their position in the file. */
  const describe = (mistakes: readonly FileMistake[]) =>
    mistakes
      .map((mistake) => ({ ...mistake, offset: offsetOf(document, mistake) }))
      .toSorted((one, other) => one.offset - other.offset)
      .map(({ path, message, offset }) => `${placeOf(offset)}: ${shownPath(path)} ${message}`)
  const problems = [...document.errors, ...document.warnings]
  const syntax = problems.map(({ pos: [start], code, message }) => {
    return `${placeOf(start)}: ${ownMessages.get(code) ?? message}`
  })
  try {
    return { value: syntax.length === 0 ? document.toJS({ maxAliasCount: aliasesMax }) : undefined, syntax, describe }
  } catch (error) {
    // Thrown for an alias without an anchor, and for too many aliases.
    if (!(error instanceof ReferenceError)) throw error
    return { value: undefined, syntax: [`${placeOf(aliasOffset(document))}: ${error.message}`], describe }
  }
}

/** Returns the offset of the first alias without an anchor, or else of the first alias. */
function aliasOffset(document: Document): number {
  const offsets: number[] = []
  visit(document, {
    Alias(_key, alias) {
      const [offset = 0] = alias.range ?? []
      if (alias.resolve(document) === undefined) offsets.unshift(offset)
      else offsets.push(offset)
    },
  })
  return offsets[0] ?? 0
}

/**
 * Returns the offset at which a mistake is reported. A missing member has no offset, so its mistake is placed at the
 * nearest existing parent.
 */
function offsetOf(document: Document, { path, isName = false }: FileMistake): number {
  const above = path.slice(0, -1)
  const last = path.at(-1)
  const parent = last === undefined ? undefined : document.getIn(above, true)
  if (isName && isMap(parent)) {
    const pair = parent.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === last)
    if (isNode(pair?.key) && pair.key.range) return pair.key.range[0]
  }
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range?.[0] ?? 0
}

function shownPath(path: FilePath): string {
  const shown = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return path.length === 0 ? 'the file:' : `${shown.replace(/^\./, '')}:`
}
