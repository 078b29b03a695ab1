import type { Readable } from 'node:stream'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../../machine/log.ts'
import { type ArtifactType, newArtifactName, readArtifactName } from './artifactName.ts'

export type ArtifactStore = ReturnType<typeof createArtifactStore>

/** Name and end of the availability of a stored result. `expiresAt` is an ISO 8601 time in UTC. */
export interface ArtifactHandle {
  readonly name: string
  readonly expiresAt: string
}

export interface StoredFile {
  readonly size: number
  /**
   * Reads the whole file, or the bytes from `start` to `end`, both included. The stream opens the storage only when it
   * is read.
   */
  read(range?: { readonly start: number; readonly end: number }): Readable
}

export interface FoundArtifact extends StoredFile {
  readonly contentType: ArtifactType
  readonly expiresAtMs: number
}

/**
 * Storage in a folder or a bucket. The artifact store generates the names, and checks each name before it calls this
 * interface.
 */
export interface ArtifactStorage {
  put(name: string, artifact: StoredArtifact): Promise<void>
  get(name: string): Promise<StoredFile | undefined>
  remove(name: string): Promise<void>
  list(): AsyncIterable<ListedFile>
}

export interface ListedFile {
  readonly name: string
  readonly bytes: number
}

export interface StoredArtifact {
  readonly bytes: Uint8Array
  readonly contentType: ArtifactType
  readonly expiresAtMs: number
}

export interface ArtifactStoreDeps {
  readonly clock: Clock
  readonly log: Log
  readonly storage: ArtifactStorage
  readonly ttlMs: number
  /** Maximum bytes of all artifacts together, including those that other instances stored. */
  readonly totalBytesMax: number
}

export const artifactBytesMax = 32 * 1024 * 1024
// Bytes reserved for callers who had paid before the bound was reached. At the bound, new quotes are refused. Results
// of paid orders are refused only when the reserve is used up too.
const reserveBytes = 8 * artifactBytesMax

/**
 * Stores results that are too large for an answer, for a limited time and under names that cannot be guessed. `keep`
 * throws a `Fault` if the storage fails. Nothing is then sold until `recover` finds that the storage works again. So no
 * caller pays for a result that cannot be stored.
 */
export function createArtifactStore(deps: ArtifactStoreDeps) {
  const { clock, log, storage, ttlMs, totalBytesMax } = deps
  // Size of the largest result that could not be stored. Undefined while the storage works. The test writes a file of
  // this size, because an almost full disk still takes small files.
  let failedBytes: number | undefined
  // Bytes of all artifacts. Each sweep counts them exactly. Between sweeps the number is an estimate, because other
  // instances store files too.
  let totalBytes = 0
  return {
    /** Returns why no result can be stored. Undefined while results can be stored. */
    whyUnavailable(): string | undefined {
      if (totalBytes > totalBytesMax) return 'the storage of results is full until some of them expire'
      return failedBytes === undefined ? undefined : 'results cannot be stored at the moment'
    },
    async keep(contentType: ArtifactType, bytes: Uint8Array): Promise<ArtifactHandle> {
      if (bytes.length > artifactBytesMax)
        throw new Fault(`a result of ${bytes.length} bytes is too large to keep`, { retryable: false })
      const expiresAtMs = clock.nowMs() + ttlMs
      const name = newArtifactName(contentType, expiresAtMs)
      if (totalBytes > totalBytesMax + reserveBytes)
        throw new Fault('the storage of results is full', { retryable: true })
      totalBytes += bytes.length
      try {
        await storage.put(name, { bytes, contentType, expiresAtMs })
      } catch (error) {
        failedBytes = Math.max(failedBytes ?? 0, bytes.length)
        log.warn({ event: 'artifact_not_kept', error: describeError(error) })
        throw new Fault('the result could not be stored', { cause: error, retryable: true })
      }
      return { name, expiresAt: isoTime(expiresAtMs) }
    },
    /** Returns the file of this name. Undefined if the name is unknown or has expired. */
    async find(name: string): Promise<FoundArtifact | undefined> {
      const read = readArtifactName(name)
      if (read === undefined || read.expiresAtMs <= clock.nowMs()) return undefined
      const found = await storage.get(name)
      return found === undefined ? undefined : { ...read, ...found }
    },
    /** Removes expired files, and counts the bytes of all others. */
    async sweep(): Promise<void> {
      let countedBytes = 0
      for await (const { name, bytes } of storage.list()) {
        const read = readArtifactName(name)
        // Ignore other files, because the operator may have configured a folder with other contents.
        if (read === undefined) continue
        if (read.expiresAtMs <= clock.nowMs()) await storage.remove(name)
        else countedBytes += bytes
      }
      totalBytes = countedBytes
    },
    /** After a failed write, tests the storage with a file of the same size. Does nothing if no write has failed. */
    async recover(): Promise<void> {
      if (failedBytes === undefined) return
      const bytes = new Uint8Array(failedBytes)
      const expiresAtMs = clock.nowMs()
      // Use an expired name, so that a sweep removes the file if this process ends first.
      const name = newArtifactName('image/png', expiresAtMs)
      const works = await storage.put(name, { bytes, contentType: 'image/png', expiresAtMs }).then(
        () => true,
        () => false,
      )
      if (!works) return
      await storage.remove(name)
      // Keep the larger size if another write failed during this test, so that the next call tests the larger size.
      if (failedBytes === bytes.length) failedBytes = undefined
    },
  }
}
