import { sql } from 'kysely'
import { assertNever } from '@tollbook/core/assert'
import type { Database } from '../../store/database.ts'
import { readShareNames } from '../shareNames.ts'
import { type Chunk, entryPages, eventPages, type Page, paymentPages } from './exportRows.ts'
import { type ExportRange, type ExportScope, scopeOf } from './exportScope.ts'
import { jsonLines } from './jsonLines.ts'
import { csvChunks } from './csvChunks.ts'
import { journalChunks } from './journalChunks.ts'
import { readLedgerMints } from '../../store/ledgerMints.ts'
import { parquetChunks } from './parquetChunks.ts'
import { type Column, decimalsOf, entryColumns, eventColumns, paymentColumns } from './table.ts'

export const exportFormats = ['jsonl', 'csv', 'parquet', 'beancount', 'hledger'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** Tables of CSV and Parquet exports. The other formats have fixed content. */
export const exportTables = ['entries', 'payments', 'events'] as const
export type ExportTable = (typeof exportTables)[number]

export interface ExportQuestion extends ExportRange {
  readonly format: ExportFormat
  readonly table: ExportTable
  /** Verifier key for the first line of a JSONL export, so that its checkpoint can be verified offline. */
  readonly verifierKey: string | undefined
  readonly signal: AbortSignal
  /** Resolves when the next piece may be written, so that a slow reader slows the export down. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>
  readonly onProgress?: (position: number, scope: ExportScope) => void
}

/** Writes the export from one snapshot, so that later appends are not included. */
export async function exportLedger(database: Database, question: ExportQuestion): Promise<ExportScope> {
  const transaction = database.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  return transaction.execute(async (snapshot) => {
    // Disable the timeout, because the session is idle while the reader of the export is slow.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(snapshot)
    const scope = await scopeOf(snapshot, question)
    for await (const { chunk, upto } of await chunksOf(snapshot, scope, question)) {
      question.signal.throwIfAborted()
      await question.write(chunk)
      question.onProgress?.(upto, scope)
    }
    return scope
  })
}

function chunksOf(snapshot: Database, scope: ExportScope, question: ExportQuestion): Promise<AsyncIterable<Chunk>> {
  switch (question.format) {
    case 'jsonl': {
      const pages = eventPages(snapshot, scope)
      return Promise.resolve(jsonLines(scope, { verifierKey: question.verifierKey, pages }))
    }
    case 'beancount':
    case 'hledger':
      return journalChunks(snapshot, scope, question.format)
    case 'csv':
      return tableChunks(csvChunks, { snapshot, scope, table: question.table })
    case 'parquet':
      return tableChunks(parquetChunks, { snapshot, scope, table: question.table })
    default:
      return assertNever(question.format)
  }
}

type TableWriter = <T>(
  scope: ExportScope,
  table: { readonly columns: readonly Column<T>[]; readonly pages: AsyncIterable<Page<T>> },
) => AsyncIterable<Chunk>

interface TableQuestion {
  readonly snapshot: Database
  readonly scope: ExportScope
  readonly table: ExportTable
}

async function tableChunks(
  write: TableWriter,
  { snapshot, scope, table }: TableQuestion,
): Promise<AsyncIterable<Chunk>> {
  switch (table) {
    case 'entries': {
      const columns = entryColumns(decimalsOf(await readLedgerMints(snapshot)))
      return write(scope, { columns, pages: entryPages(snapshot, scope) })
    }
    case 'payments': {
      const columns = paymentColumns(await readShareNames(snapshot))
      return write(scope, { columns, pages: paymentPages(snapshot, scope) })
    }
    case 'events':
      return write(scope, { columns: eventColumns, pages: eventPages(snapshot, scope) })
    default:
      return assertNever(table)
  }
}
