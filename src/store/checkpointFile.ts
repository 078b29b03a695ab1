import { access, constants, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { assert } from '@tollbook/core/assert'
import { type Checkpoint, readCheckpoint } from '@tollbook/core/checkpoint'
import { equal } from '@tollbook/core/merkle'
import { encodeBase64 } from '@tollbook/core/base64'
import { Fault } from '@tollbook/core/fault'
import type { Database } from './database.ts'
import { rootAt } from './sealer.ts'
import { headPosition } from './sealStore.ts'

/*
 * The newest checkpoint, stored outside the database: it distinguishes a restored backup from the ledger. A backup does
 * not
 * know payments claimed after it was made, so they could buy a second time.
 */

/** Renamed into place and on disk before, so that a reader, or a machine that lost power, finds a whole one. */
export async function keepCheckpoint(path: string, note: string): Promise<void> {
  assert(note !== '', 'a checkpoint is a signed note')
  try {
    const file = await open(`${path}.tmp`, 'w', readableFile)
    try {
      await file.writeFile(note)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.tmp`, path)
  } catch (error) {
    throw new Fault(`the checkpoint cannot be written to ${path} (CHECKPOINT_FILE)`, { cause: error, retryable: true })
  }
}

// A checkpoint is public.
const readableFile = 0o644

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
