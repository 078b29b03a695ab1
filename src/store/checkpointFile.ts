import { access, constants, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { assert, assertPresent } from '@tollbook/core/assert'
import { type Checkpoint, readCheckpoint } from '@tollbook/core/checkpoint'
import { equal } from '@tollbook/core/merkle'
import { encodeBase64 } from '@tollbook/core/base64'
import { Fault } from '@tollbook/core/fault'
import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import type { Database } from './database.ts'
import { lossNoteOf, readLossNote, removeLossNote } from './lossNote.ts'
import { rootAt } from './sealer.ts'
import { headPosition } from './sealStore.ts'
import { writeWhole } from './writeWhole.ts'

/*
 * The newest checkpoint, stored outside the database: it distinguishes a restored backup from the ledger. A backup does
 * not
 * know payments claimed after it was made, so they could buy a second time.
 */

/**
 * The file never moves back: a smaller checkpoint, or another root for the same size, means that the database has lost
 * events, and the file is what shows it.
 */
export async function keepCheckpoint(path: string, note: string): Promise<void> {
  const given = assertPresent(readCheckpoint(note), 'a checkpoint is a signed note')
  const stored = await readStoredCheckpoint(path)
  if (stored !== undefined && given.size < stored.size)
    throw new LedgerDamage(
      `a checkpoint of ${given.size} events was to replace that of ${stored.size} events in ${path} (CHECKPOINT_FILE)`,
    )
  if (stored !== undefined && given.size === stored.size && !equal(given.root, stored.root))
    throw new LedgerDamage(`two checkpoints of ${given.size} events have different roots; one is kept in ${path}`)
  await writeWhole(path, note)
}

/** Undefined when there is none yet. */
async function readStoredCheckpoint(path: string): Promise<Checkpoint | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Fault(`${path} (CHECKPOINT_FILE) cannot be read`, { cause: error, retryable: false })
  })
  if (text === undefined) return undefined
  const checkpoint = readCheckpoint(text)
  if (checkpoint !== undefined) return checkpoint
  throw new Fault(
    `${path} (CHECKPOINT_FILE) is not a checkpoint: restore a valid one, or remove it if it never was one`,
    {
      retryable: false,
    },
  )
}

/** Throws if the database does not contain the ledger that the stored checkpoint was signed over. */
export async function requireStoredCheckpoint(database: Database, path: string): Promise<void> {
  await requireLostEvent(database, path)
  const stored = await readStoredCheckpoint(path)
  if (stored === undefined) return requireFolder(path)
  const head = await headPosition(database)
  if (head < stored.size) {
    throw refusal(
      path,
      `the database ends at event ${head}, and the checkpoint of ${stored.origin} kept in ${path} is of ${stored.size} events`,
    )
  }
  const root = await rootAt(database, stored.size)
  assert(root.length === stored.root.length, 'two roots are hashes of one length')
  if (!equal(root, stored.root)) {
    const roots = `${encodeBase64(root)} and not ${encodeBase64(stored.root)}`
    throw refusal(
      path,
      `the first ${stored.size} events of the database are not those of the checkpoint of ${stored.origin} kept in ${path}: their root is ${roots}`,
    )
  }
}

/** A loss that was noticed by a running instance ends with the return of the ledger, or by the operator's hand. */
async function requireLostEvent(database: Database, path: string): Promise<void> {
  const lost = await readLossNote(path)
  if (lost === undefined) return
  const row = await database
    .selectFrom('ledger.events')
    .select('leaf_hash')
    .where('seq', '=', lost.position)
    .executeTakeFirst()
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

/**
 * A folder without write permission would otherwise show only at the first checkpoint, without an operator watching.
 */
async function requireFolder(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw new Fault(`nothing can be written into the folder of ${path} (CHECKPOINT_FILE)`, {
      cause: error,
      retryable: false,
    })
  })
}
