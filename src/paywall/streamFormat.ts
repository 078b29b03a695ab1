import { z } from 'zod'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import type { DeliveryQuestion } from '../payment/paymentLedger.ts'
import type { SignedReceipt } from '../payment/receipt.ts'
import type { Meta, Stream } from '../product/product.ts'
import { inclusionProofOf } from './inclusionProof.ts'

/** The format of a streamed answer and its receipt, as sent and as stored. */
type Described = Pick<Stream, 'contentType' | 'meta'>

const receiptTrailer = 'tollbook-receipt'

/**
 * Returns the headers of a paid stream. `Receipt-Location` lets a client fetch the receipt if it missed the trailer or
 * the last event.
 */
export function streamHeaders(
  stream: Described,
  { reference, attemptId }: DeliveryQuestion,
): Readonly<Record<string, string>> {
  return { ...contentHeaders(stream), 'receipt-location': `/api/receipts/${reference}?attempt=${attemptId}` }
}

/** Returns the headers of a stream, paid or repeated. The receipt is a trailer, or the last event of an event stream. */
export function contentHeaders({ contentType, meta }: Described): Readonly<Record<string, string>> {
  return {
    'content-type': contentType,
    'cache-control': 'private, no-store',
    // Tells nginx not to buffer the answer.
    'x-accel-buffering': 'no',
    'x-answer-meta': asciiJson(meta),
    ...(isEventStream(contentType) ? {} : { trailer: receiptTrailer }),
    ...(meta.source.startsWith('sample:') ? { 'x-sample-data': 'true' } : {}),
  }
}

/** Writes JSON in ASCII, the only characters in header values. JSON can escape every other character. */
function asciiJson(value: Json): string {
  return canonicalJson(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Returns the last event of an event stream. Other media types can carry a receipt only in the trailer. */
export function* streamEnd({ contentType, meta }: Described, receipt: SignedReceipt): Generator<Uint8Array> {
  if (!isEventStream(contentType)) return
  const data = JSON.stringify({ receipt, inclusionProof: inclusionProofOf(receipt), meta })
  // The empty line ends an event that the provider left open. After a finished event it has no effect.
  yield Buffer.from(`\n\nevent: receipt\ndata: ${data}\n\n`, 'utf8')
}

/** Returns the trailers. Empty for event streams, whose receipt is an event because browsers cannot read trailers. */
export function receiptTrailers({ contentType }: Described, receipt: SignedReceipt): Readonly<Record<string, string>> {
  return isEventStream(contentType) ? {} : { [receiptTrailer]: receipt.jws }
}

function isEventStream(contentType: string): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(contentType)
}

const stored = z.strictObject({
  meta: z.object({ source: z.string(), asOf: z.string(), cached: z.boolean() }).catchall(z.json()),
  stream: z.strictObject({ base64: z.string(), contentType: z.string() }),
})

/** Returns a complete streamed answer in its stored form, for a replay. */
export function storedStream({ contentType, meta }: Described, bytes: Buffer): string {
  return canonicalJson({ meta, stream: { base64: bytes.toString('base64'), contentType } })
}

/** A stream short enough to store, for a retry by its payer. */
export interface StoredStream extends Described {
  readonly meta: Meta
  readonly bytes: Buffer
}

/** Reads a stored stream. Undefined for the stored text of a complete answer, which starts with `data`. */
export function readStoredStream(answerJson: string): StoredStream | undefined {
  if (answerJson.startsWith('{"data":')) return undefined
  const { meta, stream } = stored.parse(JSON.parse(answerJson))
  return { meta, contentType: stream.contentType, bytes: Buffer.from(stream.base64, 'base64') }
}
