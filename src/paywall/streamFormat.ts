import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import type { DeliveryQuestion } from '../payment/paymentLedger.ts'
import type { SignedReceipt } from '../payment/receipt.ts'
import type { Meta, Stream } from '../product/product.ts'

export type Described = Pick<Stream, 'contentType' | 'meta'>

/** The receipt as a JWS: a header of a whole answer, a trailer of a stream. */
export const receiptHeader = 'tollbook-receipt'

/**
 * Returns the headers of a paid stream. `Receipt-Location` lets a client fetch the receipt if it missed the trailer or
 * the last event.
 */
export function streamHeaders(
  stream: Described,
  { reference, attemptId }: DeliveryQuestion,
): Readonly<Record<string, string>> {
  return { ...contentHeaders(stream), ...receiptLocation({ reference, attemptId }) }
}

/** Only the holder of the attempt's id can open this address. */
export function receiptLocation({ reference, attemptId }: DeliveryQuestion): Readonly<Record<string, string>> {
  return { 'receipt-location': `/api/receipts/${reference}?attempt=${attemptId}` }
}

/** The receipt is a trailer, or the last event of an event stream. */
export function contentHeaders({ contentType, meta }: Described): Readonly<Record<string, string>> {
  return {
    'content-type': contentType,
    'cache-control': 'private, no-store',
    // Tells nginx not to buffer the answer.
    'x-accel-buffering': 'no',
    'x-answer-meta': asciiJson(meta),
    ...(isEventStream(contentType) ? {} : { trailer: receiptHeader }),
    ...sampleHeader(meta),
  }
}

/**
 * Returns the address of the proof that the ledger contains the sale. The receipt does not contain this address,
 * because it is a function of the sale alone.
 */
export function inclusionProofOf({ ledger }: Pick<SignedReceipt, 'ledger'>): string {
  return `/api/ledger/inclusion/${ledger.position}`
}

/** No client should take the sample data of local mode for real data. */
export function sampleHeader({ source }: Meta): Readonly<Record<string, string>> {
  return source.startsWith('sample:') ? { 'x-sample-data': 'true' } : {}
}

/** Writes JSON in ASCII, the only characters in header values. JSON can escape every other character. */
export function asciiJson(value: Json): string {
  return canonicalJson(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The last event of an event stream. Other media types can carry a receipt only in the trailer. */
export function* streamEnd({ contentType, meta }: Described, receipt: SignedReceipt): Generator<Uint8Array> {
  if (!isEventStream(contentType)) return
  const data = JSON.stringify({ receipt, inclusionProof: inclusionProofOf(receipt), meta })
  // The empty line ends an event that the provider left open. After a finished event it has no effect.
  yield Buffer.from(`\n\nevent: receipt\ndata: ${data}\n\n`, 'utf8')
}

/** Empty for event streams, whose receipt is an event because browsers cannot read trailers. */
export function receiptTrailers({ contentType }: Described, receipt: SignedReceipt): Readonly<Record<string, string>> {
  return isEventStream(contentType) ? {} : { [receiptHeader]: receipt.jws }
}

function isEventStream(contentType: string): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(contentType)
}
