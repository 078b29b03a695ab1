import { readFile, rm } from 'node:fs/promises'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { writeFileAtomically } from '../machine/writeFileAtomically.ts'

/*
 * Note about lost events, next to CHECKPOINT_FILE. While the note exists, a restarted instance stays closed until the
 * database has the lost event again. The checkpoint alone is not enough, because it may be a second older than the
 * newest event that the instance has seen.
 */

const note = z.object({ position: z.int().positive(), leafHash: z.string().regex(/^[0-9a-f]{64}$/) })

export type LostEvent = z.infer<typeof note>

export function lossNoteOf(checkpointFile: string): string {
  return `${checkpointFile}.lost`
}

export async function writeLossNote(checkpointFile: string, { position, leafHash }: LostEvent): Promise<void> {
  assert(position > 0 && leafHash.length === 64, 'a lost event had a position and a leaf')
  await writeFileAtomically(
    lossNoteOf(checkpointFile),
    `${JSON.stringify({ position, leafHash })}\n`,
    'CHECKPOINT_FILE',
  )
}

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

export async function removeLossNote(checkpointFile: string): Promise<void> {
  await rm(lossNoteOf(checkpointFile), { force: true })
}
