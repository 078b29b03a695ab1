import { stringify } from 'csv-stringify/sync'
import type { Chunk, Page } from './exportRows.ts'
import type { ExportScope } from './exportScope.ts'
import { cellText, type Column } from './table.ts'

// Add an apostrophe in front of a cell that begins like a formula. Callers choose some of these texts, and a
// spreadsheet would run them. Figures in an export never begin like a formula.
const options = { escape_formulas: true, record_delimiter: 'windows' } as const

/**
 * Writes CSV by RFC 4180. The last two columns of each row identify the tree, so this link survives sorting, filtering
 * and copying.
 */
export async function* csvChunks<T>(
  { fromPosition, treeSize, root }: ExportScope,
  { columns, pages }: { readonly columns: readonly Column<T>[]; readonly pages: AsyncIterable<Page<T>> },
): AsyncGenerator<Chunk> {
  const names = [...columns.map(({ name }) => name), 'tree_size', 'tree_root']
  yield { chunk: stringify([names], options), upto: fromPosition - 1 }
  for await (const { rows, upto } of pages) {
    const texts = rows.map((row) => [
      ...columns.map(({ of }) => cellText(of(row))),
      String(treeSize),
      treeRootText(root),
    ])
    yield { chunk: stringify(texts, options), upto }
  }
}

/** Adds a prefix, because bare base64 may begin with a plus, which a spreadsheet reads as a formula. */
export function treeRootText(rootBase64: string): string {
  return `sha256:${rootBase64}`
}
