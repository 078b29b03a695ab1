import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { deserialize, serialize } from 'node:v8'
import { AuditFault } from './auditFault.ts'
import { type Cell, StoredRows, type TableOf } from './storedRows.ts'

// Version of the state's format. Increase it with each change, because an older file would be read wrongly.
const stateVersion = 13
// "toll" in ASCII. SQLite stores this number in the file, so a file of another program is rejected.
const applicationId = 0x746f6c6c
const privateFile = 0o600
// Size of SQLite's cache in KiB, so that a long ledger does not fill the memory.
const cacheKib = 32_768

export type StateRow = Readonly<Record<string, SQLOutputValue>>

/**
 * The state of an audit after the events so far, in a SQLite file. The file is temporary, or a file of the auditor from
 * which the next audit continues. Anyone who can write this file can falsify the audit.
 */
export class AuditState implements Disposable {
  readonly #database: DatabaseSync
  readonly #tables = new Map<string, { trim(): void; flush(): void }>()
  readonly #documents = new Map<string, unknown>()
  readonly #remove: () => void

  private constructor(database: DatabaseSync, remove: () => void = () => undefined) {
    this.#database = database
    this.#remove = remove
    database.exec(`pragma cache_size = -${cacheKib}; pragma temp_store = file;
      begin; create table if not exists documents (name text primary key, content blob)`)
  }

  /** Creates a state in memory, for a ledger with few events. */
  static small(): AuditState {
    return new AuditState(new DatabaseSync(':memory:'))
  }

  static temporary(): AuditState {
    const folder = mkdtempSync(join(tmpdir(), 'tollbook-audit-'))
    const database = new DatabaseSync(join(folder, 'state'))
    // The file is removed at the end, so it needs no protection against a crash.
    database.exec('pragma journal_mode = off; pragma synchronous = off')
    return new AuditState(database, () => rmSync(folder, { recursive: true, force: true }))
  }

  /** Opens or creates the resume file. Throws an `AuditFault` if the file is damaged, or of another program or version. */
  static resume(path: string): AuditState {
    let database: DatabaseSync | undefined
    try {
      // Create the file for its owner only, because anyone who can write it can falsify the audit.
      closeSync(openOrFault(path))
      database = new DatabaseSync(path)
      const { application_id: id, user_version: version } = pragmasOf(database)
      if (id === 0 && version === 0) {
        database.exec(`pragma application_id = ${applicationId}; pragma user_version = ${stateVersion}`)
      } else if (id !== applicationId || version !== stateVersion) {
        throw new Error('it is a file of another version of the audit, or of another program')
      } else if (database.prepare('pragma integrity_check').get()?.['integrity_check'] !== 'ok') {
        throw new Error('its tables contradict each other')
      }
      return new AuditState(database)
    } catch (error) {
      database?.close()
      throw error instanceof AuditFault ? error : unusable(path, error)
    }
  }

  rows<R extends Readonly<Record<string, Cell>>>(table: TableOf<R>): StoredRows<R> {
    const rows = new StoredRows(this.#database, table)
    this.#tables.set(table.name, rows)
    return rows
  }

  /**
   * Returns the content that was saved under this name, or `fresh` if there is none. `save` writes the content with the
   * rest of the state.
   */
  open<T extends object>(name: string, fresh: T): T {
    const stored = this.#database.prepare('select content from documents where name = ?').get(name)?.['content']
    try {
      const content: T = stored instanceof Uint8Array ? deserialize(stored) : fresh
      this.#documents.set(name, content)
      return content
    } catch (error) {
      throw unusable(this.#database.location() ?? 'the state of the audit', error)
    }
  }

  execute(statements: string): void {
    this.#database.exec(statements)
  }

  run(statement: string, ...values: readonly SQLInputValue[]): void {
    this.#database.prepare(statement).run(...values)
  }

  prepare(statement: string): (...values: readonly SQLInputValue[]) => StateRow | undefined {
    const prepared = this.#database.prepare(statement)
    return (...values) => prepared.get(...values)
  }

  /** Returns the rows of a query on tables that the caller created. Does not flush rows in memory. */
  query(query: string, ...values: readonly SQLInputValue[]): readonly StateRow[] {
    return this.#database.prepare(query).all(...values)
  }

  /** Writes the rows in memory to the file, then iterates over the rows of a query. Called between two events. */
  select(query: string, ...values: readonly SQLInputValue[]): Iterable<StateRow> {
    for (const rows of this.#tables.values()) rows.flush()
    return this.#database.prepare(query).iterate(...values)
  }

  /** Creates a temporary table for rows that were read from the ledger's database. Returns the function that adds a row. */
  found(name: string, columns: readonly string[]): (...values: readonly SQLInputValue[]) => void {
    this.#database.exec(`drop table if exists temp.${name}; create table temp.${name} (${columns.join(', ')})`)
    const insert = this.#database.prepare(`insert into temp.${name} values (${columns.map(() => '?').join(', ')})`)
    return (...values) => void insert.run(...values)
  }

  /** Writes rows to the file if many are in memory. Called between two events. */
  trim(): void {
    for (const rows of this.#tables.values()) rows.trim()
  }

  /** Writes the state to the file and commits it, so that the next audit continues from here. */
  save(): void {
    for (const rows of this.#tables.values()) rows.flush()
    const write = this.#database.prepare('insert or replace into documents values (?, ?)')
    for (const [name, content] of this.#documents) write.run(name, serialize(content))
    this.#database.exec('commit; begin')
  }

  [Symbol.dispose](): void {
    this.#database.close()
    this.#remove()
  }
}

/** A part of the state: plain data, which `serialize` can write. It changes in place, and `save` writes it. */
export class StateDocument<T extends object> {
  readonly #name: string
  readonly #fresh: () => T
  readonly #opened = new WeakMap<AuditState, T>()

  constructor(name: string, fresh: () => T) {
    this.#name = name
    this.#fresh = fresh
  }

  of(state: AuditState): T {
    const content = this.#opened.get(state) ?? state.open(this.#name, this.#fresh())
    this.#opened.set(state, content)
    return content
  }
}

function openOrFault(path: string): number {
  try {
    return openSync(path, 'a', privateFile)
  } catch (cause) {
    throw new AuditFault(`${path} cannot be opened`, { cause, retryable: false })
  }
}

function unusable(path: string, cause: unknown): AuditFault {
  const message = `${path} is damaged or not a file of an audit; remove it to audit from the first event`
  return new AuditFault(message, { cause, retryable: false })
}

function pragmasOf(database: DatabaseSync): StateRow {
  return { ...database.prepare('pragma application_id').get(), ...database.prepare('pragma user_version').get() }
}
