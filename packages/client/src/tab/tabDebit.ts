import { encodeBase58 } from '@tollbook/core/base58'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { assertPresent } from '@tollbook/core/assert'
import { utf8Bytes } from '@tollbook/core/bytes'
import { sha256 } from '@tollbook/core/digest'
import { randomBytesOf } from '@tollbook/core/id'
import { debitMessage, requestDigestOf, tabTermsHash, writeDebit } from '@tollbook/core/tab'
import type { PayableRequest } from '../payableRequest.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import { readSecretKey } from '../solana/keypair.ts'
import type { OpenedRecord } from './tabRecords.ts'

export interface DebitQuestion {
  readonly record: OpenedRecord
  readonly request: PayableRequest
  readonly idempotencyKey: string
  readonly maxBaseUnits: bigint
  readonly nowMs: number
}

const validMs = 60_000

/**
 * Signs one debit with a random number. It costs nothing against the limits, which counted the deposit. It is a payment
 * that is presented again with its number, so that a lost answer is not charged twice.
 */
export function signDebit({ record, request, idempotencyKey, maxBaseUnits, nowMs }: DebitQuestion): PendingPayment {
  const { service, wallet, secretKey, opened } = record
  const { tab, mint, origin, deposit } = opened
  const key = readSecretKey(assertPresent(readBase64(secretKey), 'a record holds base64'))
  const { content } = request
  const debit = { tab, number: randomNumber(), maxBaseUnits, validUntilMs: nowMs + validMs }
  const body = content.bodyBase64 === undefined ? undefined : sha256(bytesOf(content.bodyBase64))
  const { href, hash } = new URL(content.url)
  const target = href.slice(service.length, href.length - hash.length)
  const termsHash = tabTermsHash({ origin, mint, sessionKey: key.address })
  const signature = key.sign(debitMessage(debit, termsHash, requestDigestOf(content.method, target, body)))
  return {
    format: 'tollbook-payment-1',
    request: content,
    wallet,
    form: 'bound',
    // Names this debit in the store. No transaction has it.
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

/** 1 to 2^63 - 1. */
function randomNumber(): bigint {
  const number = BigInt.asUintN(63, new DataView(randomBytesOf(8).buffer).getBigUint64(0))
  return number === 0n ? 1n : number
}
