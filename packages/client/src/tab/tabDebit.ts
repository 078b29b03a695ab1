import { encodeBase58 } from '@tollbook/core/base58'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { assertPresent } from '@tollbook/core/assert'
import { utf8Bytes } from '@tollbook/core/bytes'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sha256 } from '@tollbook/core/digest'
import { pathOf } from '@tollbook/core/endpointName'
import { fillTemplate, segmentNames } from '@tollbook/core/pathTemplate'
import { randomBytesOf } from '@tollbook/core/id'
import { debitMessage, requestDigestOf, tabTermsHash, writeDebit } from '@tollbook/core/tab'
import { sortedTarget } from '@tollbook/core/toolRequest'
import type { PayableQuote } from '../checkQuote.ts'
import type { PayableRequest } from '../payableRequest.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import { readSecretKey } from '../solana/keypair.ts'
import type { OpenedRecord } from './tabRecords.ts'

export interface SignedRequest {
  readonly method: string
  /** Path and query after the base URL of the service. */
  readonly target: string
  readonly body: Uint8Array | string | undefined
}

interface SignedPlace {
  readonly service: string
  readonly quote: Pick<PayableQuote, 'endpoint' | 'method'>
}

/**
 * Returns the request that a debit signs. For a tool call, this is the equivalent HTTP request. Undefined if the tool's
 * offer does not state the HTTP method.
 */
export function signedRequestOf(
  { content, tool }: PayableRequest,
  { service, quote: { endpoint, method } }: SignedPlace,
): SignedRequest | undefined {
  if (tool === undefined) {
    const { href, hash } = new URL(content.url)
    const body = content.bodyBase64 === undefined ? undefined : bytesOf(content.bodyBase64)
    return { method: content.method, target: href.slice(service.length, href.length - hash.length), body }
  }
  if (method === undefined) return undefined
  const template = pathOf(endpoint)
  const inPath = segmentNames(template)
  const values = Object.fromEntries(Object.entries(tool.arguments).filter(([name]) => !inPath.includes(name)))
  const path = fillTemplate(template, tool.arguments)
  return method === 'GET' || method === 'DELETE'
    ? { method, target: sortedTarget(path, values), body: undefined }
    : { method, target: path, body: canonicalJson(values) }
}

export interface DebitQuestion {
  readonly record: OpenedRecord
  readonly request: PayableRequest
  readonly signed: SignedRequest
  readonly idempotencyKey: string
  readonly maxBaseUnits: bigint
  readonly nowMs: number
}

const validMs = 60_000

/**
 * Signs a debit. It costs 0, because the limits already counted the deposit. A service charges one number of a tab
 * once, also after a lost answer.
 */
export function signDebit({ record, request, signed, ...terms }: DebitQuestion): PendingPayment {
  const { idempotencyKey, maxBaseUnits, nowMs } = terms
  const { wallet, secretKey, opened } = record
  const { tab, mint, origin, deposit } = opened
  const key = readSecretKey(assertPresent(readBase64(secretKey), 'a record holds base64'))
  const debit = { tab, number: randomNumber(), maxBaseUnits, validUntilMs: nowMs + validMs }
  const { method, target, body } = signed
  const digest = requestDigestOf(method, target, body === undefined ? undefined : sha256(body))
  const termsHash = tabTermsHash({ origin, mint, sessionKey: key.address })
  const signature = key.sign(debitMessage(debit, termsHash, digest))
  return {
    format: 'tollbook-payment-1',
    request: request.content,
    wallet,
    form: 'bound',
    // Identifies this debit in the store. No transaction on chain has this signature.
    signature: encodeBase58(signature),
    proof: encodeBase64(utf8Bytes(writeDebit({ ...debit, signature }))),
    debit: { deposit, reference: `tab:${tab}:${debit.number}` },
    idempotencyKey,
    transaction: '',
    lastValidBlockHeight: 0,
    mint,
    costBaseUnits: '0',
    signedAtMs: nowMs,
  }
}

function bytesOf(base64: string): Uint8Array {
  return assertPresent(readBase64(base64), 'a request holds base64')
}

function randomNumber(): bigint {
  const number = BigInt.asUintN(63, new DataView(randomBytesOf(8).buffer).getBigUint64(0))
  return number === 0n ? 1n : number
}
