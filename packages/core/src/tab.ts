import type { Address } from './address.ts'
import { assertPresent } from './assert.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { concatBytes, fromBase64Url, toBase64Url, utf8Bytes } from './bytes.ts'
import { canonicalJson } from './canonicalJson.ts'
import { sha256 } from './digest.ts'
import type { Price } from './quote.ts'

/*
 * A tab is a deposit that pays for many requests. Each request carries one signed debit, in 116 fixed bytes that bind
 * the tab, the number, the maximum, the time and the request. A wallet cannot sign them as a transaction by mistake:
 * read as one, their first bytes would announce 108 addresses of 32 bytes.
 */

/** A caller limits the price of a request with this header, in US dollars. */
export const maxUsdHeader = 'tab-max-usd'

/** The only share of a deposit's price, by which the program recognises a deposit. No split may name it. */
export const depositAccount = 'prepaid'

/** ID of a tab: base58 of the first 16 bytes of its deposit's signature. It is public and gives no access. */
export type TabId = string

export const tabIdBytes = 16

/** Conditions of a tab. The purchase of its deposit binds them. Amounts are base units of the deposit's mint. */
export interface TabTerms {
  /** Key that signs debits. Undefined: only a bearer key can debit. */
  readonly sessionKey: Address | undefined
  /** SHA-256 in hex of the bearer key's secret. Undefined: the tab has no bearer key. */
  readonly bearerHash: string | undefined
  readonly maxPerRequestBaseUnits: bigint
  readonly maxPerDayBaseUnits: bigint | undefined
  /** The tab is closed automatically after this time. */
  readonly endsAtMs: number
}

/** With terms, the deposit opens the tab. Without terms, it tops up an open tab of the same wallet. */
export interface TabDeposit {
  readonly tab: TabId
  readonly terms: TabTerms | undefined
}

/** Maximum balances after a deposit, of the tab and of all tabs together, in base units of the mint. */
export interface DepositLimits {
  readonly tabBaseUnits: bigint
  readonly allBaseUnits: bigint
  /** Price of the same deposit in every mint of tabs. `allBaseUnits` counts tabs in other mints by these prices. */
  readonly prices: readonly Pick<Price, 'mint' | 'requiredBaseUnits'>[]
}

export function tabIdOf(signature: Uint8Array): TabId {
  return encodeBase58(signature.slice(0, tabIdBytes))
}

/** Undefined if the text is not a tab ID: base58 of 16 bytes. A fixed length has one spelling per value. */
export function readTabId(text: string): Uint8Array | undefined {
  return decodeBase58(text, tabIdBytes)
}

export interface TabDebit {
  readonly tab: TabId
  /**
   * The payer chooses a number from 1 to 2^63 - 1. It pays one request only, so a repeated request is not charged
   * twice.
   */
  readonly number: bigint
  /** Maximum charge for the request, in base units. */
  readonly maxBaseUnits: bigint
  readonly validUntilMs: number
}

/** The signature is invalid unless payer and service agree on these facts. */
export interface TabBinding {
  readonly origin: string
  readonly mint: Address
  readonly sessionKey: Address
}

/** Binds a debit to these facts, so that its signature is invalid for another origin, mint or key. */
export function tabTermsHash({ origin, mint, sessionKey }: TabBinding): Uint8Array {
  return sha256(canonicalJson({ mint, origin, sessionKey }))
}

/** `target` is the path with its query as sent, and `bodyDigest` the SHA-256 of the body. */
export function requestDigestOf(method: string, target: string, bodyDigest: Uint8Array | undefined): Uint8Array {
  return sha256(concatBytes([utf8Bytes(`${method} ${target}\n`), bodyDigest ?? new Uint8Array()]))
}

const purpose = utf8Bytes('tollbook.tab.debit.1')

/** The session key signs these 116 bytes. Integers are big-endian. */
export function debitMessage(debit: TabDebit, termsHash: Uint8Array, requestDigest: Uint8Array): Uint8Array {
  const numbers = new DataView(new ArrayBuffer(24))
  numbers.setBigUint64(0, debit.number)
  numbers.setBigUint64(8, debit.maxBaseUnits)
  numbers.setBigInt64(16, BigInt(debit.validUntilMs))
  const tab = assertPresent(readTabId(debit.tab), 'a debit names a tab').slice(0, 8)
  return concatBytes([purpose, termsHash, new Uint8Array(numbers.buffer), requestDigest, tab])
}

export interface SignedDebit extends TabDebit {
  readonly signature: Uint8Array
}

/** The base64 of this text is the header `x-payment-proof` of the request. */
export function writeDebit({ tab, number, maxBaseUnits, validUntilMs, signature }: SignedDebit): string {
  return ['tab1', tab, number, maxBaseUnits, validUntilMs, toBase64Url(signature)].join('.')
}

const form =
  /^tab1\.([1-9A-HJ-NP-Za-km-z]{16,22})\.([1-9]\d{0,18})\.([1-9]\d{0,18})\.([1-9]\d{12})\.([A-Za-z0-9_-]{86})$/
const signedMax = 2n ** 63n - 1n

export function readDebit(text: string): SignedDebit | undefined {
  const [, tab = '', number = '', max = '', until = '', signed = ''] = form.exec(text) ?? []
  const signature = fromBase64Url(signed)
  if (readTabId(tab) === undefined || signature?.length !== 64) return undefined
  const [numbered, maxBaseUnits] = [BigInt(number), BigInt(max)]
  if (numbered > signedMax || maxBaseUnits > signedMax) return undefined
  return { tab, number: numbered, maxBaseUnits, validUntilMs: Number(until), signature }
}
