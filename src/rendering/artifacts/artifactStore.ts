import type { Readable } from 'node:stream'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../../machine/log.ts'
import { type ArtifactType, newArtifactName, readArtifactName } from './artifactName.ts'

export type ArtifactStore = ReturnType<typeof createArtifactStore>

/** `expiresAt` is an ISO 8601 time in UTC. */
export interface ArtifactHandle {
  readonly name: string
  readonly expiresAt: string
}

export interface StoredFile {
  readonly size: number
  /** `end` is included. A disk stream opens its file at once, and an S3 stream sends its request at the first read. */
  read(range?: { readonly start: number; readonly end: number }): Readable
}

export interface FoundArtifact extends StoredFile {
  readonly contentType: ArtifactType
  readonly expiresAtMs: number
}

/** The artifact store generates the names, and checks each name before it calls the storage. */
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
  /** Includes the artifacts that other instances stored. */
  readonly totalBytesMax: number
}

export const artifactBytesMax = 32 * 1024 * 1024
// Reserve for orders that were paid before the bound was reached.
const reserveBytes = 8 * artifactBytesMax

/**
 * Creates the store. `keep` throws a `Fault` if the storage fails. `whyUnavailable` then returns a reason until
 * `recover` finds that the storage works again.
 */
export function createArtifactStore(deps: ArtifactStoreDeps) {
  const { clock, log, storage, ttlMs, totalBytesMax } = deps
  // Undefined while the storage works. `recover` writes a file of this size, because an almost full disk still takes
  // small files.
  let failedBytes: number | undefined
  // Counted by each sweep, and estimated in between, because other instances store files too.
  let totalBytes = 0
  return {
    /** Undefined while results can be stored. Only orders that are paid already may use the reserve. */
    whyUnavailable({ isPaid }: { readonly isPaid: boolean } = { isPaid: false }): string | undefined {
      if (totalBytes > totalBytesMax + (isPaid ? reserveBytes : 0))
        return 'the storage of results is full until some of them expire'
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
    /** Finds an artifact. Undefined if the name is unknown or has expired. Throws a `Fault` if the storage fails. */
    async find(name: string): Promise<FoundArtifact | undefined> {
      const read = readArtifactName(name)
      if (read === undefined || read.expiresAtMs <= clock.nowMs()) return undefined
      const found = await storage.get(name).catch((cause: unknown) => {
        throw new Fault('the storage of results did not answer', { cause, retryable: true })
      })
      return found === undefined ? undefined : { ...read, ...found }
    },
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
    /** Tests whether the storage works again. Does nothing if no write has failed. */
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
      // Compare the sizes, because another write may have failed meanwhile with a larger size, which the next call must
      // test.
      if (failedBytes === bytes.length) failedBytes = undefined
    },
  }
}
