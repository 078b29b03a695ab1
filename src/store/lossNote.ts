import { readFile, rm } from 'node:fs/promises'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { writeFileAtomically } from '../machine/writeFileAtomically.ts'

/*
 * A ledger that went backwards keeps an instance closed. This file, next to CHECKPOINT_FILE, keeps it closed over a restart
 * too: the last checkpoint may be a second older than the newest event that was seen.
 */

const note = z.object({ position: z.int().positive(), leafHash: z.string().regex(/^[0-9a-f]{64}$/) })

/** An event that was seen, and that the database no longer has. */
export type LostEvent = z.infer<typeof note>

/** Path of the note about lost events, next to the checkpoint file. */
export function lossNoteOf(checkpointFile: string): string {
  return `${checkpointFile}.lost`
}

/** Survives the process, so that the next start learns of the loss. */
export async function writeLossNote(checkpointFile: string, { position, leafHash }: LostEvent): Promise<void> {
  assert(position > 0 && leafHash.length === 64, 'a lost event had a position and a leaf')
  await writeFileAtomically(
    lossNoteOf(checkpointFile),
    `${JSON.stringify({ position, leafHash })}\n`,
    'CHECKPOINT_FILE',
  )
}

/** Undefined when no loss was noted. */
export async function readLossNote(checkpointFile: string): Promise<LostEvent | undefined> {
  const path = lossNoteOf(checkpointFile)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Fault(`${path} (next to CHECKPOINT_FILE) cannot be read`, { cause: error, retryable: false })
  })
  return text === undefined ? undefined : parse(path, text)
}

function parse(path: string, text: string): LostEvent {
  try {
    return note.parse(JSON.parse(text))
  } catch (error) {
    throw new Fault(`${path} is not a note of a lost event: move it away if nothing was lost`, {
      cause: error,
      retryable: false,
    })
  }
}

/** The database has the event again. */
export async function removeLossNote(checkpointFile: string): Promise<void> {
  await rm(lossNoteOf(checkpointFile), { force: true })
}
