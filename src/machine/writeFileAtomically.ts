import { open, rename, rm } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'

// Mode of the files. Every user may read them, because checkpoints, their anchors and loss records are public.
const readableFile = 0o644

/** Writes a file so that a reader finds either the old or the new content, never a part. */
export async function writeFileAtomically(path: string, text: string, setting: string): Promise<void> {
  // Use a random name, because a process could rename a half-written file of another process if both used the same
  // name.
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
