import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { treeRootText } from './csvChunks.ts'
import type { Chunk, Page } from './exportRows.ts'
import type { ExportScope } from './exportScope.ts'
import type { ExportCell, Column, ColumnType } from './table.ts'

// Limits of a row group, which is held in memory: rows, and characters of text in case bodies are large. A group ends
// at the first limit that it reaches.
const groupRowsMax = 20_000
const groupTextMax = 8 * 1024 * 1024

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]

/** Writes Parquet. The key-value metadata of the file contains the tree, so that no column has to repeat it. */
export async function* parquetChunks<T>(
  scope: ExportScope,
  { columns, pages }: { readonly columns: readonly Column<T>[]; readonly pages: AsyncIterable<Page<T>> },
): AsyncGenerator<Chunk> {
  const bytes = new ByteWriter()
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [root, ...columns.map(({ name, type }) => ({ name, ...elements[type] }))],
    kvMetadata: metadataOf(scope),
    createdBy: 'tollbook',
  })
  let group = newGroup(columns)
  for await (const { rows, upto } of pages) {
    for (const row of rows) {
      addRow(group, columns, row)
      if (group.rows < groupRowsMax && group.textLength < groupTextMax) continue
      await writer.write({ columnData: group.columnData, rowGroupSize: group.rows })
      group = newGroup(columns)
    }
    yield { chunk: take(bytes), upto }
  }
  if (group.rows > 0) await writer.write({ columnData: group.columnData, rowGroupSize: group.rows })
  await writer.finish()
  yield { chunk: take(bytes), upto: scope.toPosition }
}

interface Group {
  readonly columnData: { readonly name: string; readonly data: ExportCell[] }[]
  rows: number
  textLength: number
}

function newGroup<T>(columns: readonly Column<T>[]): Group {
  return { columnData: columns.map(({ name }) => ({ name, data: [] })), rows: 0, textLength: 0 }
}

function addRow<T>(group: Group, columns: readonly Column<T>[], row: T): void {
  for (const [index, { type, of }] of columns.entries()) {
    const cell = of(row)
    group.columnData[index]?.data.push(valueOf(type, cell))
    if (typeof cell === 'string') group.textLength += cell.length
  }
  group.rows++
}

const optional = { repetition_type: 'OPTIONAL' } as const

/**
 * Parquet types by column type. Base units are a DECIMAL of 38 digits, because they have up to 20 digits and their sums
 * have more.
 */
const elements: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  text: { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { ...optional, type: 'INT64' },
  time: { ...optional, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  baseUnits: {
    ...optional,
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    precision: 38,
    scale: 0,
  },
}

function metadataOf({ fromPosition, toPosition, treeSize, root, checkpoint, origin, mint }: ExportScope) {
  const values = {
    'tollbook.from_position': String(fromPosition),
    'tollbook.to_position': String(toPosition),
    'tollbook.tree_size': String(treeSize),
    'tollbook.tree_root': treeRootText(root),
    'tollbook.checkpoint': checkpoint,
    'tollbook.origin': origin,
    'tollbook.mint': mint,
  }
  return Object.entries(values).flatMap(([key, value]) => (value === null ? [] : [{ key, value }]))
}

function valueOf(type: ColumnType, cell: ExportCell): ExportCell {
  return type === 'integer' && typeof cell === 'number' ? BigInt(cell) : cell
}

/**
 * Takes the written bytes out of the writer, because the library only appends. The library continues to count the file
 * offset.
 */
function take(writer: ByteWriter): Uint8Array {
  const bytes = writer.getBytes().slice()
  writer.index = 0
  return bytes
}
