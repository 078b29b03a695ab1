import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import type { DeliveryQuestion } from '../payment/paymentLedger.ts'
import type { SignedReceipt } from '../payment/receipt.ts'
import type { Meta, Stream } from '../product/product.ts'
import { inclusionProofOf } from './inclusionProof.ts'

export type Described = Pick<Stream, 'contentType' | 'meta'>

/**
 * Header of a raw answer, or trailer of a stream. An event stream sends the receipt as its last event instead, and a
 * JSON answer has it in its envelope.
 */
export const receiptHeader = 'tollbook-receipt'

/** `Receipt-Location` lets a client fetch the receipt if the client missed the trailer or the last event. */
export function streamHeaders(
  stream: Described,
  { reference, attemptId }: DeliveryQuestion,
): Readonly<Record<string, string>> {
  return { ...contentHeaders(stream), ...receiptLocation({ reference, attemptId }) }
}

/** The receipt at this path can be read only with the attempt id. */
export function receiptLocation({ reference, attemptId }: DeliveryQuestion): Readonly<Record<string, string>> {
  return { 'receipt-location': `/api/receipts/${reference}?attempt=${attemptId}` }
}

/** An event stream announces no trailer, because its last event is the receipt. */
export function contentHeaders({ contentType, meta }: Described): Readonly<Record<string, string>> {
  return {
    'content-type': contentType,
    'cache-control': 'private, no-store',
    // Instructs nginx not to buffer the answer.
    'x-accel-buffering': 'no',
    'x-answer-meta': asciiJson(meta),
    ...(isEventStream(contentType) ? {} : { trailer: receiptHeader }),
    ...sampleHeader(meta),
  }
}

/** Marks sample data of local mode, so that clients do not use it as real data. */
export function sampleHeader({ source }: Meta): Readonly<Record<string, string>> {
  return source.startsWith('sample:') ? { 'x-sample-data': 'true' } : {}
}

/** Node sends header values as Latin-1, so each character above ASCII becomes a JSON escape. */
export function asciiJson(value: Json): string {
  return canonicalJson(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Empty for other media types, whose receipt is in the trailer. */
export function* streamEnd({ contentType, meta }: Described, receipt: SignedReceipt): Generator<Uint8Array> {
  if (!isEventStream(contentType)) return
  const data = JSON.stringify({ receipt, inclusionProof: inclusionProofOf(receipt), meta })
  // Start with an empty line, which ends an event that the provider left open. After a finished event, the line has no
  // effect.
  yield Buffer.from(`\n\nevent: receipt\ndata: ${data}\n\n`, 'utf8')
}

/** Empty for event streams, whose receipt is an event because browsers cannot read trailers. */
export function receiptTrailers({ contentType }: Described, receipt: SignedReceipt): Readonly<Record<string, string>> {
  return isEventStream(contentType) ? {} : { [receiptHeader]: receipt.jws }
}

function isEventStream(contentType: string): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(contentType)
}
