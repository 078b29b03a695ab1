import type { Readable } from 'node:stream'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../../machine/log.ts'
import { type ArtifactType, newArtifactName, readArtifactName } from './artifactName.ts'

/** Results that are too large for an answer, stored for a limited time under a name that cannot be guessed. */
export interface ArtifactStore {
  /** Undefined when results can be stored. */
  whyUnavailable(): string | undefined
  keep(contentType: ArtifactType, bytes: Uint8Array): Promise<ArtifactHandle>
  /** Undefined for a name that was never given, and from its expiry on. */
  find(name: string): Promise<FoundArtifact | undefined>
  /** Removes what has expired. */
  sweep(): Promise<void>
  /** After a failure, tries a file as large as the one that could not be stored. Does nothing otherwise. */
  recover(): Promise<void>
}

/** `expiresAt` is ISO 8601 in UTC. */
export interface ArtifactHandle {
  readonly name: string
  readonly expiresAt: string
}

export interface StoredFile {
  readonly size: number
  /** The whole file, or the bytes from `start` to `end`, both included. The storage is read when the stream is. */
  read(range?: { readonly start: number; readonly end: number }): Readable
}

export interface FoundArtifact extends StoredFile {
  readonly contentType: ArtifactType
  readonly expiresAtMs: number
}

/** A folder or a bucket. Names are made by this process and checked before they come here. */
export interface ArtifactStorage {
  put(name: string, artifact: StoredArtifact): Promise<void>
  get(name: string): Promise<StoredFile | undefined>
  remove(name: string): Promise<void>
  /** Everything that is stored, in no order. */
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
  /** All artifacts together, those of other instances included. */
  readonly totalBytesMax: number
}

export const artifactBytesMax = 32 * 1024 * 1024
// For those who had paid when the bound was reached: a quote is refused at the bound, and an answer beyond this.
const reserveBytes = 8 * artifactBytesMax

/**
 * Files are removed after their time by a sweep. `keep` throws a `Fault` when the storage fails. Nothing is sold from then on until
 * `recover` finds that the storage works again, so that no caller pays to find that out.
 */
export function createArtifactStore(deps: ArtifactStoreDeps): ArtifactStore {
  const { clock, log, storage, ttlMs, totalBytesMax } = deps
  // Size of the largest result that could not be stored. A disk that is almost full still takes small ones.
  let failedBytes: number | undefined
  // Counted by each sweep, and estimated between two of them: other instances store too.
  let totalBytes = 0
  return {
    whyUnavailable() {
      if (totalBytes > totalBytesMax) return 'the storage of results is full until some of them expire'
      return failedBytes === undefined ? undefined : 'results cannot be stored at the moment'
    },
    async keep(contentType, bytes) {
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
    async find(name) {
      const read = readArtifactName(name)
      if (read === undefined || read.expiresAtMs <= clock.nowMs()) return undefined
      const found = await storage.get(name)
      return found === undefined ? undefined : { ...read, ...found }
    },
    async sweep() {
      let countedBytes = 0
      for await (const { name, bytes } of storage.list()) {
        const read = readArtifactName(name)
        // Other files are left alone: the operator may have named a folder that holds other things.
        if (read === undefined) continue
        if (read.expiresAtMs <= clock.nowMs()) await storage.remove(name)
        else countedBytes += bytes
      }
      totalBytes = countedBytes
    },
    async recover() {
      if (failedBytes === undefined) return
      const bytes = new Uint8Array(failedBytes)
      const expiresAtMs = clock.nowMs()
      // Its name has expired, so a sweep removes it if this process dies first.
      const name = newArtifactName('image/png', expiresAtMs)
      const works = await storage.put(name, { bytes, contentType: 'image/png', expiresAtMs }).then(
        () => true,
        () => false,
      )
      if (!works) return
      await storage.remove(name)
      // A larger result may have failed meanwhile, and is tried by the next call.
      if (failedBytes === bytes.length) failedBytes = undefined
    },
  }
}
