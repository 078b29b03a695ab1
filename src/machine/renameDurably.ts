import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export type OpenFile = (path: string, flags: string, mode: number) => Promise<FileHandle>

/** Renames a file that is on disk. Without the call for the folder, a power loss can bring back what had the name before. */
export async function renameDurably(from: string, to: string, openFile: OpenFile = open): Promise<void> {
  await rename(from, to)
  const folder = await openFile(dirname(to), 'r', 0)
  try {
    await folder.sync()
  } catch (error) {
    // Some file systems cannot synchronise a folder; Postgres ignores the same two codes (fsync_fname_ext).
    if (!(error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'EBADF'))) throw error
  } finally {
    await folder.close()
  }
}
