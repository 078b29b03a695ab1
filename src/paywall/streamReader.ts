import { createHash } from 'node:crypto'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { RunningStream } from './runHandler.ts'

/** Reads a streamed answer within its bounds and digests every byte. */
export interface StreamReader {
  /** Undefined at the end. Throws when the provider breaks off or a bound is exceeded. */
  next(): Promise<Uint8Array | undefined>
  bytes(): number
  /** SHA-256 in hex of the bytes so far. */
  digest(): string
  /** The bytes so far; undefined when there are too many to store for a replay. */
  stored(): Buffer | undefined
  /** Stops the provider. */
  abort(): void
}

/** Limits of one stream. A stream longer than `storedBytesMax` is delivered, but cannot be repeated. */
export interface StreamBounds {
  readonly bytesMax: number
  /** Time that the provider may take in all. The time in which the caller does not read is not counted. */
  readonly timeMaxMs: number
  readonly storedBytesMax: number
}

/** Reads one chunk at a time, so a slow caller slows its provider down. Hashes every byte as it passes. */
export function createStreamReader(clock: Clock, stream: RunningStream, bounds: StreamBounds): StreamReader {
  const { bytesMax, timeMaxMs, storedBytesMax } = bounds
  const iterator = stream.chunks[Symbol.asyncIterator]()
  const hash = createHash('sha256')
  let bytes = 0
  let spentMs = 0
  let stored: Uint8Array[] | undefined = []

  async function nextInTime(): Promise<IteratorResult<Uint8Array>> {
    const startedAtMs = clock.monotonicMs()
    const ended = new AbortController()
    const late = clock.sleep(Math.max(0, timeMaxMs - spentMs), ended.signal).then(
      () => undefined,
      // The provider was faster: the race is over.
      () => undefined,
    )
    const reading = iterator.next()
    // The result of a read that lost the race is not used, so its failure is ignored.
    reading.catch(() => undefined)
    try {
      const step = await Promise.race([reading, late])
      if (step !== undefined) return step
      throw new Fault(`the provider did not complete the answer within ${timeMaxMs} ms`, { retryable: false })
    } finally {
      ended.abort()
      spentMs += clock.monotonicMs() - startedAtMs
    }
  }

  return {
    async next() {
      const { done, value } = await nextInTime()
      if (done === true) return undefined
      if (bytes + value.length > bytesMax)
        throw new Fault(`the answer is longer than ${bytesMax} bytes`, { retryable: false })
      bytes += value.length
      hash.update(value)
      if (bytes > storedBytesMax) stored = undefined
      stored?.push(value)
      return value
    },
    bytes: () => bytes,
    digest: () => hash.copy().digest('hex'),
    stored: () => (stored === undefined ? undefined : Buffer.concat(stored)),
    abort() {
      stream.abort()
      // A provider that hangs would hang here too, so its end is not waited for.
      iterator.return?.().catch(() => undefined)
    },
  }
}
