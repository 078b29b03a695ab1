import { open, rename } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'

// Checkpoints, their anchors and notes of losses are public.
const readableFile = 0o644

/** Renamed into place and on disk before, so that a reader, or a machine that lost power, finds a whole file. */
export async function writeFileAtomically(path: string, text: string, setting: string): Promise<void> {
  try {
    const file = await open(`${path}.tmp`, 'w', readableFile)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.tmp`, path)
  } catch (error) {
    throw new Fault(`${path} cannot be written (${setting})`, { cause: error, retryable: true })
  }
}
