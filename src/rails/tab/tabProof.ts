import { readAddress } from '@tollbook/core/address'
import { encodeBase58 } from '@tollbook/core/base58'
import { fromBase64Url, toHex } from '@tollbook/core/bytes'
import { randomBytesOf } from '@tollbook/core/id'
import { sha256 } from '@tollbook/core/digest'
import { parseDecimal } from '@tollbook/core/money'
import { isRefusal, type Refusal, refuseField, refuseProof } from '@tollbook/core/refusal'
import {
  maxUsdHeader,
  readDebit,
  requestDigestOf,
  type SignedDebit,
  type TabId,
  tabIdBytes,
  tabIdOf,
} from '@tollbook/core/tab'
import { type PaymentReference, tabRequestReference } from '../../payment/paymentReference.ts'
import { usdDecimals } from '../../pricing/priceList.ts'
import type { OrderRequest, Presented, Proof, RailRequest } from '../../paywall/rail.ts'

export const walletHeader = 'x-wallet-address'
export const proofHeader = 'x-payment-proof'
export const bearerHeader = 'authorization'
const keyHeader = 'idempotency-key'

/** Proof of a debit of a tab: the secret of the bearer key, or the signature of the session key. */
export interface TabProof extends Proof {
  readonly reference: PaymentReference
  readonly tab: TabId
  readonly number: bigint
  /** SHA-256 of the request as sent. */
  readonly requestDigest: Uint8Array
  /** The signed debit. Undefined for a debit by the bearer key. */
  readonly signed: SignedDebit | undefined
  /** Maximum charge that the caller permits for this request, in millionths of a US dollar. Undefined: no such maximum. */
  readonly maxMicroUsd: bigint | undefined
  /** SHA-256 of the secret in the bearer key, in hex. Undefined for a signed debit. */
  readonly secretHash: string | undefined
}

// First characters of the base64 of `tab1.`, with which every signed debit starts. No signature and no transaction of
// at least the length below starts with these characters.
const signedStart = 'dGFiMS'
const signedLengthMin = 100
const bearerForm = /^Bearer tbt_([A-Za-z0-9_-]{64})([A-Za-z0-9_-]{43})$/

export function carriesDebit(request: RailRequest): boolean {
  const proof = request.header(proofHeader)
  if (proof !== undefined) return proof.startsWith(signedStart) && proof.length >= signedLengthMin
  return request.header(bearerHeader)?.startsWith('Bearer tbt_') === true
}

export function readTabProof(request: OrderRequest): Presented<TabProof> | Refusal {
  const text = request.header(proofHeader)
  const maxMicroUsd = readMaxUsd(request.header(maxUsdHeader))
  if (isRefusal(maxMicroUsd)) return maxMicroUsd
  const requestDigest = requestDigestOf(request.method, request.target, request.bodyDigest())
  const sent = { requestDigest, maxMicroUsd }
  return text === undefined ? readBearer(request, sent) : readSigned(text, request.header(walletHeader), sent)
}

function readMaxUsd(text: string | undefined): bigint | undefined | Refusal {
  if (text === undefined) return undefined
  const maxMicroUsd = parseDecimal(text, usdDecimals)
  if (maxMicroUsd !== undefined && maxMicroUsd > 0n) return maxMicroUsd
  return refuseField(maxUsdHeader, `must be US dollars with at most ${usdDecimals} decimals, such as 0.02`)
}

type SentRequest = Pick<TabProof, 'requestDigest' | 'maxMicroUsd'>

function readSigned(text: string, wallet: string | undefined, sent: SentRequest): Presented<TabProof> | Refusal {
  const payer = readAddress(wallet ?? '')
  if (payer === undefined)
    return refuseField(walletHeader, 'must be the Solana address of the wallet that opened the tab')
  const bytes = Buffer.from(text, 'base64')
  // Refuse a second spelling of the same bytes, as for every proof.
  const signed = bytes.toString('base64') === text ? readDebit(bytes.toString('latin1')) : undefined
  if (signed === undefined) return refuseProof('malformed_proof')
  const { tab, number } = signed
  const reference = tabRequestReference(tab, number)
  return { payer, proof: { reference, tab, number, ...sent, signed, secretHash: undefined } }
}

const highBit = 2n ** 63n

/**
 * Reads a debit by the bearer key. Its number has the highest bit set, so that it never equals a number that a session
 * key signs.
 */
function readBearer(request: OrderRequest, sent: SentRequest): Presented<TabProof> | Refusal {
  const [, place = '', secretText = ''] = bearerForm.exec(request.header(bearerHeader) ?? '') ?? []
  const [bytes, secret] = [fromBase64Url(place), fromBase64Url(secretText)]
  const payer = bytes === undefined ? undefined : readAddress(encodeBase58(bytes.slice(tabIdBytes)))
  if (bytes === undefined || secret === undefined || payer === undefined)
    return refuseField(bearerHeader, 'must be `Bearer` and the prefix of the tab followed by the base64url of 32 bytes')
  const key = request.header(keyHeader)
  const chosen = key === undefined ? randomBytesOf(8) : sha256(`${place} ${key}`)
  const number = highBit | (new DataView(chosen.buffer, chosen.byteOffset).getBigUint64(0) % highBit)
  const tab = tabIdOf(bytes)
  const reference = tabRequestReference(tab, number)
  return {
    payer,
    proof: { reference, tab, number, ...sent, signed: undefined, secretHash: toHex(sha256(secret)) },
  }
}
