import { z } from 'zod'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { SolanaProof } from '../solana/solanaProof.ts'
import { parseJsonBytes } from '@tollbook/core/json'
import { isRefusal, type Refusal, refuseProof } from '@tollbook/core/refusal'
import { transactionReference } from '../../payment/paymentReference.ts'
import { readSignature, type Signature, signatureOfBytes } from '@tollbook/core/signature'

export const proofHeader = 'x-payment-proof'

// Maximum length of the header. The longest valid proof is base64 of {transaction: base64 of 1,232 bytes, secret},
// which has 2,264 characters.
const charactersMax = 4_096
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const base58Text = /^[1-9A-HJ-NP-Za-km-z]+$/
const signatureByteLength = 64

type TransactionReader = Pick<ChainReader, 'readTransaction'>

/**
 * Reads x-payment-proof: canonical padded base64 of a signature (base58 text or 64 bytes), of a signed transaction, or
 * of JSON {signature|transaction, secret}. All forms of one payment have the same reference. Does not use the network.
 */
export function readProof(value: string, chain: TransactionReader): SolanaProof | Refusal {
  const bytes = value.length <= charactersMax ? decodeBase64(value) : undefined
  if (bytes === undefined) return refuseProof('malformed_proof')
  // A signature can also start with the byte of an opening brace, but every bound proof is longer than a signature.
  const opensObject = bytes[0] === 0x7b && bytes.length !== signatureByteLength
  return opensObject ? readBoundProof(bytes, chain) : readBareProof(bytes, chain)
}

/** Decodes the canonical spelling: padded, standard alphabet, no extra trailing bits. Undefined for any other text. */
function decodeBase64(text: string): Buffer | undefined {
  if (text === '' || !base64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

function readBareProof(bytes: Buffer, chain: TransactionReader): SolanaProof | Refusal {
  const signature = readSignatureForm(bytes)
  return signature === undefined ? ofTransaction(bytes, undefined, chain) : ofSignature(signature, undefined)
}

function readSignatureForm(bytes: Buffer) {
  if (bytes.length === signatureByteLength) return signatureOfBytes(bytes)
  const text = bytes.toString('latin1')
  return base58Text.test(text) ? readSignature(text) : undefined
}

// A secret of 128 bits has 22 characters in base64url.
const secret = z.string().regex(/^[A-Za-z0-9_-]{22}$/)
const boundProof = z.union([
  z.strictObject({ signature: z.string(), secret }),
  z.strictObject({ transaction: z.string(), secret }),
])

function readBoundProof(bytes: Buffer, chain: TransactionReader): SolanaProof | Refusal {
  const parsed = boundProof.safeParse(parseJsonBytes(bytes))
  if (!parsed.success) return refuseProof('malformed_proof')
  if ('signature' in parsed.data) {
    const signature = readSignature(parsed.data.signature)
    return signature === undefined ? refuseProof('malformed_proof') : ofSignature(signature, parsed.data.secret)
  }
  const bytesOfTransaction = decodeBase64(parsed.data.transaction)
  return bytesOfTransaction === undefined
    ? refuseProof('malformed_proof')
    : ofTransaction(bytesOfTransaction, parsed.data.secret, chain)
}

function ofSignature(signature: Signature, secret: string | undefined): SolanaProof {
  return { reference: transactionReference(signature), signature, secret, transaction: undefined }
}

function ofTransaction(bytes: Uint8Array, secret: string | undefined, chain: TransactionReader): SolanaProof | Refusal {
  const transaction = chain.readTransaction(bytes)
  return isRefusal(transaction) ? transaction : { ...ofSignature(transaction.signature, secret), transaction }
}
