import { open, rename, rm } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'

// Every user may read these files: checkpoints, their anchors and loss records are public.
const readableFile = 0o644

/** A reader finds a complete file, even after a power failure. */
export async function writeFileAtomically(path: string, text: string, setting: string): Promise<void> {
  // Use a random name, because two processes that share a temporary file could rename it half written.
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
