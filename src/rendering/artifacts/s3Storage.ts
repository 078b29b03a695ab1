import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NotFound,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { Fault } from '@tollbook/core/fault'
import type { ArtifactStorage } from './artifactStore.ts'

export interface S3StorageOptions {
  readonly bucket: string
  readonly region: string
  /** URL of an S3-compatible server. Undefined: Amazon S3. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const prefix = 'artifacts/'
const attemptsMax = 2
const connectTimeoutMs = 3_000
const requestTimeoutMs = 10_000
// Maximum page size of S3.
const pageMax = 1_000
// Bounds a sweep to ten million objects. A later sweep lists the rest, after some objects have been removed.
const pagesMax = 10_000

/** Opens a storage in a bucket, which callers reach only through the service. */
export function openS3Storage(options: S3StorageOptions): ArtifactStorage & { close(): void } {
  const { bucket: Bucket, region, endpoint, accessKeyId, secretAccessKey } = options
  const client = new S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: attemptsMax,
    requestHandler: { connectionTimeout: connectTimeoutMs, requestTimeout: requestTimeoutMs },
    // Use these settings, because self-hosted servers may have no host name per bucket, and may not support the newer
    // checksums.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  async function* readObject(name: string, range: { start: number; end: number } | undefined): AsyncIterable<unknown> {
    const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end}`
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: prefix + name, Range }))
    if (!(Body instanceof Readable)) throw new Fault('the bucket sent no body', { retryable: true })
    yield* Body
  }
  return {
    async put(name, { bytes, contentType, expiresAtMs }) {
      const Expires = new Date(expiresAtMs)
      await client.send(
        new PutObjectCommand({ Bucket, Key: prefix + name, Body: bytes, ContentType: contentType, Expires }),
      )
    },
    async get(name) {
      try {
        const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key: prefix + name }))
        if (ContentLength === undefined) return undefined
        return { size: ContentLength, read: (range) => Readable.from(readObject(name, range), { objectMode: false }) }
      } catch (error) {
        if (error instanceof NotFound) return undefined
        throw error
      }
    },
    async remove(name) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: prefix + name }))
    },
    async *list() {
      let ContinuationToken: string | undefined
      for (let page = 1; page <= pagesMax; page++) {
        const { Contents = [], NextContinuationToken } = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: pageMax, ContinuationToken }),
        )
        for (const { Key = '', Size = 0 } of Contents) yield { name: Key.slice(prefix.length), bytes: Size }
        if (NextContinuationToken === undefined) return
        ContinuationToken = NextContinuationToken
      }
    },
    close: () => client.destroy(),
  }
}
