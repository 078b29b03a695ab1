import { createReadStream } from 'node:fs'
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder } from '../../machine/createFolder.ts'
import type { ArtifactStorage } from './artifactStore.ts'

// Only the service may read the files, because they belong to the callers who bought them.
const fileMode = 0o600
// A write takes milliseconds, so a file that is unfinished for an hour belongs to a dead process.
const abandonedMs = 60 * 60 * 1000

export interface DiskStorageOptions {
  readonly directory: string
  readonly nowMs: () => number
}

/** Opens a storage in a folder. Several instances may use the same folder on a shared file system. */
export async function openDiskStorage({ directory, nowMs }: DiskStorageOptions): Promise<ArtifactStorage> {
  await createFolder(directory, 'ARTIFACT_DIR')
  const fileOf = (name: string): string => join(directory, name)
  return {
    async put(name, { bytes }) {
      // Write under a temporary name and rename, so that a reader finds the whole file or none.
      const unfinished = fileOf(`${name}${unfinishedEnding}`)
      try {
        await writeFile(unfinished, bytes, { mode: fileMode, flag: 'wx' })
        await rename(unfinished, fileOf(name))
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
    },
    async get(name) {
      try {
        const { size } = await stat(fileOf(name))
        return { size, read: (range) => createReadStream(fileOf(name), range) }
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    remove: (name) => rm(fileOf(name), { force: true }),
    async *list() {
      const names = await readdir(directory)
      await removeAbandoned(names.filter((name) => name.endsWith(unfinishedEnding)).map(fileOf), nowMs())
      for (const name of names) {
        // Skip a missing file, because another instance may have removed it after it was listed.
        const entry = await stat(fileOf(name)).catch(() => undefined)
        if (entry !== undefined) yield { name, bytes: entry.size }
      }
    },
  }
}

const unfinishedEnding = '.unfinished'

async function removeAbandoned(files: readonly string[], nowMs: number): Promise<void> {
  for (const file of files) {
    const entry = await stat(file).catch(() => undefined)
    if (entry !== undefined && nowMs - entry.mtimeMs > abandonedMs) await rm(file, { force: true })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
