import { z } from 'zod'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import type { Fulfilment, SignedReceipt } from '../payment/receipt.ts'
import type { Failure, Raw, Value } from '../product/product.ts'
import { asciiJson, type Described, receiptHeader, receiptLocation, sampleHeader, streamEnd } from './streamFormat.ts'

type StoredRaw = Omit<Raw, 'kind'>

/** An answer in the form in which it is stored. */
export interface WholeAnswer {
  readonly kind: 'whole'
  /** Canonical JSON of `{data, meta}`, or the text that `storeRaw` returned. */
  readonly answerJson: string
  readonly answerDigest: string
  /** Saves parsing `answerJson`. Undefined for an answer in an envelope, and for a replay. */
  readonly raw?: StoredRaw
  readonly usage: Value['usage']
  readonly deposit?: Value['deposit']
}

// Bounds each answer in bytes, because the service stores it for its payer. Streams have the same limit.
const answerBytesMax = 8 * 1024 * 1024
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Returns a failure if the answer is too long to store. Throws if it cannot be sent, which is a bug of the product. */
export function wholeAnswer(answer: Value | Raw): WholeAnswer | Failure {
  if (answer.kind === 'raw') return wholeRaw(answer)
  const { data, meta, usage, deposit } = answer
  const answerJson = canonicalJson({ data, meta })
  if (Buffer.byteLength(answerJson) > answerBytesMax) return tooLong
  return { kind: 'whole', answerJson, answerDigest: sha256Hex(answerJson), usage, deposit }
}

function wholeRaw(raw: Raw): WholeAnswer | Failure {
  const { bytes, usage } = raw
  if (bytes.length > answerBytesMax) return tooLong
  for (const [name, value] of Object.entries({ ...raw.headers, 'content-type': raw.contentType }))
    if (!headerName.test(name) || !headerValue.test(value)) throw new TypeError(`${name} is not a valid header`)
  return { kind: 'whole', answerJson: storeRaw(raw, bytes), answerDigest: sha256Hex(bytes), raw, usage }
}

const tooLong: Failure = {
  kind: 'failed',
  code: 'UPSTREAM_FAILED',
  message: `the answer is longer than ${answerBytesMax} bytes`,
}

// Headers that a product must not set: they frame the message, control proxies or browsers, or belong to the service.
const ownHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-(?:length|type|encoding|range)|date|set-cookie2?|clear-site-data|(?:.*cdn-)?cache-control|(?:surrogate|edge)-control|x-sendfile|expires|age|access-control-.*|strict-transport-security|alt-svc|location|refresh|x-accel-.*|x-address-state|x-request-id|x-content-type-options|x-answer-meta|x-sample-data|retry-after|ratelimit.*|idempotent-replay|receipt-location|tab-balance|tollbook-.*|payment-.*|www-authenticate)$/

export interface SoldRaw {
  readonly raw: StoredRaw
  readonly receipt: SignedReceipt
  readonly fulfilment: Pick<Fulfilment, 'settlement' | 'attemptId'>
}

type Headers = Readonly<Record<string, string>>

// Maximum size of the headers that the service adds to an answer, in bytes. A proxy with default buffers accepts 4,096
// bytes of status line and headers, and other headers have about 600 bytes. The caller would pay for longer headers,
// and could not receive the answer.
const headerBytesMax = 3_300
const productBytesMax = 1_000

/**
 * The delivery is already in the ledger, so the receipt is a header and not a trailer. If the headers would be too
 * long, they contain only the address of the receipt.
 */
export function rawHeaders({ raw, receipt, fulfilment }: SoldRaw, others: Headers): Headers {
  const { contentType, meta, headers = {} } = raw
  const { settlement, attemptId } = fulfilment
  const withoutReceipt = {
    ...productHeaders(headers),
    'content-type': contentType,
    'x-answer-meta': asciiJson(meta),
    ...receiptLocation({ reference: settlement.reference, attemptId }),
    ...sampleHeader(meta),
    ...others,
  }
  const all = { ...withoutReceipt, [receiptHeader]: receipt.jws }
  return bytesOf(Object.entries(all)) <= headerBytesMax ? all : withoutReceipt
}

function productHeaders(headers: Headers): Headers {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const sent = lower.filter(([name]) => !ownHeaders.test(name))
  return Object.fromEntries(sent.filter((_, index) => bytesOf(sent.slice(0, index + 1)) <= productBytesMax))
}

function bytesOf(headers: readonly (readonly [name: string, value: string])[]): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
}

/** A repeated event stream ends with its receipt, as the original stream did. */
export function rawBody({ raw, receipt }: SoldRaw): Buffer {
  const end = [...streamEnd(raw, receipt)]
  const { buffer, byteOffset, byteLength } = raw.bytes
  return end.length === 0 ? Buffer.from(buffer, byteOffset, byteLength) : Buffer.concat([raw.bytes, ...end])
}

const storedForm = z.strictObject({
  meta: z.object({ source: z.string(), asOf: z.string(), cached: z.boolean() }).catchall(z.json()),
  stream: z.strictObject({
    base64: z.string(),
    contentType: z.string(),
    headers: z.record(z.string(), z.string()).exactOptional(),
  }),
})

export function storeRaw({ contentType, headers, meta }: Described & Pick<Raw, 'headers'>, bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return canonicalJson({ meta, stream: { base64, contentType, ...(headers === undefined ? {} : { headers }) } })
}

/** Undefined for the stored text of an envelope, which starts with `data`. */
export function readStoredRaw(answerJson: string): StoredRaw | undefined {
  if (answerJson.startsWith('{"data":')) return undefined
  const { meta, stream } = storedForm.parse(JSON.parse(answerJson))
  const { base64, ...described } = stream
  return { meta, ...described, bytes: Buffer.from(base64, 'base64') }
}
