import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { AccountStates } from './accountStates.ts'
import { type DirectoryLock, lockDirectory } from './directoryLock.ts'
import { History } from './history.ts'
import { type Branch, firstSlot } from './slots.ts'
import { blobOf, integerOf } from './sqlValue.ts'
import type { AccountAt } from './svm.ts'
import type { TransactionRecord } from './transactionRecord.ts'

/** The blockhashes and the faucet's key are derived from the hash. */
export interface Genesis {
  readonly hash: Uint8Array
  readonly createdAtSeconds: number
}

export interface Program {
  readonly address: Uint8Array
  readonly elf: Uint8Array
}

/**
 * A chain in SQLite, in memory or in a file. In a file, all data survives a `kill -9` once the call returns. A power
 * failure may lose the last seconds, which is acceptable for a chain for development and saves an fsync for each
 * transaction. To drop a fork, the rows from a position on are deleted.
 */
export class ChainDatabase {
  readonly genesis: Genesis
  /** Slot in which the chain continues. */
  readonly firstSlot: number
  readonly history: History
  readonly accounts: AccountStates
  readonly #database: DatabaseSync
  readonly #lock: DirectoryLock | undefined
  #position: number
  #failure: unknown

  private constructor(database: DatabaseSync, lock?: DirectoryLock) {
    this.#database = database
    this.#lock = lock
    const chain = assertPresent(database.prepare('select * from chain').get(), 'a chain has its genesis')
    this.genesis = {
      hash: blobOf(chain['genesis_hash']),
      createdAtSeconds: integerOf(chain['created_at_seconds']),
    }
    this.firstSlot = integerOf(chain['slot'])
    this.history = new History(database)
    this.accounts = new AccountStates(database)
    this.#position = Math.max(...positioned.map((table) => nextPosition(database, table)))
  }

  static inMemory(genesis: Genesis, slot = firstSlot): ChainDatabase {
    const database = new DatabaseSync(':memory:')
    create(database, genesis, slot)
    return new ChainDatabase(database)
  }

  /** Throws a `Fault` if another process uses the directory, or if its state cannot be read. */
  static async open(directory: string, genesis: Genesis): Promise<ChainDatabase> {
    await createDirectory(directory)
    const path = await realpath(directory)
    if (existsSync(join(path, 'journal'))) throw unusable(path, 'was written by Tollbook 0.2')
    const lock = lockDirectory(path)
    const file = join(path, 'chain.sqlite')
    closeSync(openSync(file, 'a', 0o600))
    const database = new DatabaseSync(file)
    try {
      database.exec('pragma journal_mode = wal; pragma synchronous = normal')
      const version = integerOf(database.prepare('pragma user_version').get()?.['user_version'])
      assert(version === 0 || version === formatVersion, `the format is ${formatVersion}, not ${version}`)
      if (version === 0) create(database, genesis, firstSlot)
      // Continue in a new slot. Clients may have read the last slot already, and would miss a transaction that landed
      // there later.
      else database.exec('update chain set slot = slot + 1')
      return new ChainDatabase(database, lock)
    } catch (cause) {
      database.close()
      lock.release()
      throw unusable(path, 'cannot be read', cause)
    }
  }

  /** Position of the next write. `dropFrom` takes it to undo later writes. */
  get position(): number {
    return this.#position
  }

  branches(): readonly Branch[] {
    const rows = this.#database.prepare('select from_slot, salt from branches order by position').all()
    const later = rows.map((row) => ({ fromSlot: integerOf(row['from_slot']), salt: blobOf(row['salt']) }))
    // The first branch starts at 0 and not at the first slot, because earlier slots have hashes too.
    return [{ fromSlot: 0, salt: this.genesis.hash }, ...later]
  }

  programs(): readonly Program[] {
    const rows = this.#database.prepare('select address, elf from programs order by position').all()
    return rows.map((row) => ({ address: blobOf(row['address']), elf: blobOf(row['elf']) }))
  }

  land(record: TransactionRecord, changed: readonly AccountAt[]): void {
    this.#write((position) => {
      this.history.append(position, record)
      for (const account of changed) this.accounts.append({ position, slot: record.slot, ...account })
    })
  }

  place(account: AccountAt, slot: number): void {
    this.#write((position) => this.accounts.append({ position, slot, ...account }))
  }

  addProgram({ address, elf }: Program): void {
    this.#write((position) => {
      this.#database.prepare('insert into programs values (?, ?, ?)').run(position, address, elf)
    })
  }

  slotReached(slot: number): void {
    this.#database.prepare('update chain set slot = ?').run(slot)
  }

  /** Undoes all writes from the position on, and starts a new branch after `slot`, which becomes the current slot. */
  dropFrom(position: number, { slot, salt }: { readonly slot: number; readonly salt: Uint8Array }): void {
    this.#write((branchPosition) => {
      for (const table of positioned) this.#database.prepare(`delete from ${table} where position >= ?`).run(position)
      this.#database.prepare('insert into branches values (?, ?, ?)').run(branchPosition, slot + 1, salt)
      this.slotReached(slot)
    })
  }

  /**
   * Throws if an earlier write failed, for example on a full disk. The engine is then ahead of the file, so it must not
   * execute further transactions.
   */
  assertWritable(): void {
    if (this.#failure === undefined) return
    throw new Fault('the state of the chain cannot be written: free some space and start again', {
      cause: this.#failure,
      retryable: false,
    })
  }

  /** Returns a copy of the chain in memory. The next slots of the copy have other blockhashes. */
  branch(from: { readonly slot: number; readonly salt: Uint8Array }): ChainDatabase {
    const database = new DatabaseSync(':memory:')
    create(database, this.genesis, from.slot)
    database.exec('begin')
    for (const table of positioned) {
      const rows = this.#database.prepare(`select * from ${table}`)
      const places = rows.columns().map(() => '?')
      const insert = database.prepare(`insert into ${table} values (${places.join(', ')})`)
      for (const row of rows.iterate()) insert.run(...Object.values(row))
    }
    database.exec('commit')
    const copy = new ChainDatabase(database)
    copy.dropFrom(copy.position, from)
    return copy
  }

  close(): void {
    this.#database.close()
    this.#lock?.release()
  }

  #write(run: (position: number) => void): void {
    this.assertWritable()
    try {
      this.#database.exec('begin')
      run(this.#position)
      this.#database.exec('commit')
      this.#position += 1
    } catch (cause) {
      this.#failure = cause
      this.assertWritable()
    }
  }
}

/** Increase it if an older program would misread the new format. */
const formatVersion = 3

const positioned = ['branches', 'programs', 'transactions', 'mentions', 'versions'] as const

function create(database: DatabaseSync, genesis: Genesis, slot: number): void {
  database.exec(`begin;
    create table chain (genesis_hash blob not null, created_at_seconds integer not null, slot integer not null) strict;
    create table branches (position integer primary key, from_slot integer not null, salt blob not null) strict;
    create table programs (position integer primary key, address blob not null, elf blob not null) strict;
    create table transactions (position integer primary key, slot integer not null, block_time_seconds integer not null,
      signature blob not null unique, message_digest blob not null unique, error blob not null, record blob not null) strict;
    create index transactions_by_slot on transactions (slot);
    create table mentions (address blob not null, position integer not null, primary key (address, position)) without rowid, strict;
    create table versions (address blob not null, position integer not null, slot integer not null, token_owner blob, state blob,
      primary key (address, position)) without rowid, strict;
    create index versions_by_slot on versions (slot);
    create index versions_by_token_owner on versions (token_owner) where token_owner is not null;
    pragma user_version = ${formatVersion}`)
  database.prepare('insert into chain values (?, ?, ?)').run(genesis.hash, genesis.createdAtSeconds, slot)
  database.exec('commit')
}

function nextPosition(database: DatabaseSync, table: string): number {
  return integerOf(database.prepare(`select coalesce(max(position) + 1, 0) as next from ${table}`).get()?.['next'])
}

/**
 * Creates the directory, but not its parents, so that a mistyped path is refused. A recursive mkdir would also never
 * end below /proc.
 */
async function createDirectory(directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch(async (cause: unknown) => {
    const found = await stat(directory).catch(() => undefined)
    if (found?.isDirectory() === true) return
    const advice = 'name a folder of this user in a folder that exists'
    throw new Fault(`the folder ${directory} for the state of the chain cannot be created; ${advice}`, {
      cause,
      retryable: false,
    })
  })
}

function unusable(directory: string, why: string, cause?: unknown): Fault {
  const advice = 'move the directory away to begin a new chain (in local mode, all of TOLLBOOK_HOME)'
  return new Fault(`the state of the chain ${directory} ${why}: ${advice}`, { cause, retryable: false })
}
