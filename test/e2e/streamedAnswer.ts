import { request } from 'node:http'
import type { Job, Outcome, Stream } from '../../src/product/product.ts'
import type { TestService } from '../support/testService.ts'

/** A promise that a test resolves. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export function createGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: () => resolve() }
}

export const meta = { source: 'test', asOf: '2026-11-22T00:00:00.000Z', cached: false, place: 'Zürich' }

/** A handler that delivers these chunks as a stream. */
export function streams(
  chunks: (job: Job) => AsyncIterable<Uint8Array>,
  contentType = 'text/event-stream; charset=utf-8',
): (job: Job) => Promise<Outcome> {
  return (job) => Promise.resolve<Stream>({ kind: 'stream', contentType, chunks: chunks(job), meta })
}

export async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text, 'utf8'))
}

export interface StreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly trailers: Readonly<Record<string, string | undefined>>
  readonly bytes: Buffer
  /** False when the connection ended before the answer did. */
  readonly isWhole: boolean
}

export interface OpenReply {
  /** Resolves with the first bytes. */
  readonly firstBytes: Promise<Buffer>
  readonly ended: Promise<StreamReply>
  /** Reads nothing more until `resume`. */
  pause(): void
  resume(): void
  leave(): void
}

export interface PaidOrder {
  readonly path: string
  readonly proof: string
  readonly idempotencyKey?: string
}

/** A paid request over a separate socket, whose reading a test controls. */
export function openReply(service: TestService, { path, proof, idempotencyKey }: PaidOrder): OpenReply {
  const first = Promise.withResolvers<Buffer>()
  const ended = Promise.withResolvers<StreamReply>()
  const paused = createPause()
  const sent = request(`${service.baseUrl}${path}`, {
    agent: false,
    headers: {
      'x-wallet-address': service.payer.address,
      'x-payment-proof': proof,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
  })
  sent.on('response', (response) => {
    const chunks: Buffer[] = []
    paused.follow(response)
    response.on('data', (chunk: Buffer) => {
      first.resolve(chunk)
      chunks.push(chunk)
    })
    response.on('error', () => undefined)
    response.on('close', () => {
      const { statusCode: status = 0, headers, trailers, complete: isWhole } = response
      ended.resolve({ status, headers, trailers, bytes: Buffer.concat(chunks), isWhole })
    })
  })
  sent.on('error', (error) => {
    first.reject(error)
    // Once there is a response, its own end says how far it came.
    if (!paused.isFollowing()) ended.reject(error)
  })
  // A test may wait for one of them only.
  first.promise.catch(() => undefined)
  ended.promise.catch(() => undefined)
  sent.end()
  return { firstBytes: first.promise, ended: ended.promise, ...paused, leave: () => void sent.destroy() }
}

function createPause() {
  let current: { pause(): unknown; resume(): unknown } | undefined
  let isPaused = false
  return {
    follow(response: { pause(): unknown; resume(): unknown }) {
      current = response
      if (isPaused) response.pause()
    },
    isFollowing: () => current !== undefined,
    pause() {
      isPaused = true
      current?.pause()
    },
    resume() {
      isPaused = false
      current?.resume()
    },
  }
}
