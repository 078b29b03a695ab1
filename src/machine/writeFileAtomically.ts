import { open, rename, rm } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'

// Checkpoints, their anchors and notes of losses are public.
const readableFile = 0o644

/** Renamed into place and on disk before, so that a reader, or a machine that lost power, finds a whole file. */
export async function writeFileAtomically(path: string, text: string, setting: string): Promise<void> {
  // Another process that writes the same path would rename a file with a common name while it is half written.
  const temporary = `${path}.${randomToken()}.tmp`
  try {
    const file = await open(temporary, 'wx', readableFile)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw new Fault(`${path} cannot be written (${setting})`, { cause: error, retryable: true })
  }
}
