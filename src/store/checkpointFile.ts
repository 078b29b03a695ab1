import { access, constants, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { assert, assertPresent } from '@tollbook/core/assert'
import { type Checkpoint, readCheckpoint } from '@tollbook/core/checkpoint'
import { equalBytes } from '@tollbook/core/bytes'
import { encodeBase64 } from '@tollbook/core/base64'
import { Fault } from '@tollbook/core/fault'
import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import { type Database, readRows } from './database.ts'
import { lossNoteOf, readLossNote, removeLossNote } from './lossNote.ts'
import { rootAt } from './sealer.ts'
import { headPosition } from './sealStore.ts'
import { writeFileAtomically } from '../machine/writeFileAtomically.ts'

/*
 * The newest checkpoint, stored outside the database to distinguish a restored backup from the ledger. A backup lacks
 * the payments that were claimed after the backup, so these payments could buy a second time.
 */

/**
 * Stores a checkpoint. Throws if the checkpoint is smaller than the stored checkpoint, or has another root for the same
 * size. The database then lacks or contradicts events of the stored checkpoint, whose file is the evidence.
 */
export async function storeCheckpointFile(path: string, note: string): Promise<void> {
  const given = assertPresent(readCheckpoint(note), 'a checkpoint is a signed note')
  const stored = await readCheckpointFile(path)
  if (stored !== undefined && given.size < stored.size)
    throw new LedgerDamage(
      `a checkpoint of ${given.size} events was to replace that of ${stored.size} events in ${path} (CHECKPOINT_FILE)`,
    )
  if (stored !== undefined && given.size === stored.size && !equalBytes(given.root, stored.root))
    throw new LedgerDamage(`two checkpoints of ${given.size} events have different roots; one is kept in ${path}`)
  await writeFileAtomically(path, note, 'CHECKPOINT_FILE')
}

export interface CheckpointFile extends Checkpoint {
  readonly path: string
  readonly note: string
}

/** Undefined before the first checkpoint, when the file does not exist yet. */
export async function readCheckpointFile(path: string): Promise<CheckpointFile | undefined> {
  const note = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Fault(`${path} (CHECKPOINT_FILE) cannot be read`, { cause: error, retryable: false })
  })
  if (note === undefined) return undefined
  const checkpoint = readCheckpoint(note)
  if (checkpoint !== undefined) return { ...checkpoint, path, note }
  throw new Fault(
    `${path} (CHECKPOINT_FILE) is not a checkpoint: restore a valid one, or remove it if it never was one`,
    {
      retryable: false,
    },
  )
}

export async function requireStoredCheckpoint(database: Database, path: string): Promise<void> {
  await requireLostEvent(database, path)
  const stored = await readCheckpointFile(path)
  if (stored === undefined) return requireFolder(path)
  const { relation, finding } = await compareWithCheckpoint(database, stored)
  if (relation !== 'continues') throw refusal(path, finding)
}

/**
 * Relation of a ledger to a checkpoint. `older`: the database lacks events that the checkpoint covers. `other`: the
 * database has different events.
 */
export interface CheckpointComparison {
  readonly relation: 'continues' | 'older' | 'other'
  readonly finding: string
  readonly missingEvents: number
}

export async function compareWithCheckpoint(
  database: Database,
  { size, root: expected, origin, path }: CheckpointFile,
): Promise<CheckpointComparison> {
  const head = await headPosition(database)
  if (head < size)
    return {
      relation: 'older',
      finding: `the database ends at event ${head}, and the checkpoint of ${origin} kept in ${path} is of ${size} events`,
      missingEvents: size - head,
    }
  const root = await rootAt(database, size)
  assert(root.length === expected.length, 'two roots are hashes of one length')
  if (equalBytes(root, expected))
    return {
      relation: 'continues',
      finding: `the ledger of ${head} events continues the checkpoint of ${size} events in ${path}`,
      missingEvents: 0,
    }
  const roots = `${encodeBase64(root)} and not ${encodeBase64(expected)}`
  return {
    relation: 'other',
    finding: `the first ${size} events of the database are not those of the checkpoint of ${origin} kept in ${path}: their root is ${roots}`,
    missingEvents: 0,
  }
}

/**
 * Throws while the database lacks an event whose loss a running instance noted, so that a restart does not reopen the
 * paid routes. The note is removed once the database has the event again.
 */
async function requireLostEvent(database: Database, path: string): Promise<void> {
  const lost = await readLossNote(path)
  if (lost === undefined) return
  const [row] = await readRows(database, 'the event of a lost note')<{ leaf_hash: Buffer }>`
    select leaf_hash from ledger.events where seq = ${lost.position}`
  if (row?.leaf_hash.toString('hex') !== lost.leafHash)
    throw refusal(
      `${path} and ${lossNoteOf(path)}`,
      `the database does not have event ${lost.position} as an instance has seen it (${lossNoteOf(path)})`,
    )
  await removeLossNote(path)
}

function refusal(path: string, finding: string): Fault {
  return new Fault(
    `${finding}. An older backup was restored, or DATABASE_URL names another database. Payments that were claimed since ` +
      `could buy again, so nothing is served. Restore a newer backup (docs/operations.md); only if that loss is accepted, ` +
      `put ${path} away and start again`,
    { retryable: false },
  )
}

/** Checks the folder at the start, because a missing write permission would otherwise show only at the first checkpoint. */
async function requireFolder(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw new Fault(`nothing can be written into the folder of ${path} (CHECKPOINT_FILE)`, {
      cause: error,
      retryable: false,
    })
  })
}
