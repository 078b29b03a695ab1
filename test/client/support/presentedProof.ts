import { VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'

/** Content of an `x-payment-proof`, parsed as a third party would, without our own encoder. */
export interface PresentedProof {
  readonly signature: string
  readonly transaction: VersionedTransaction | undefined
  readonly secret: string | undefined
}

export function readPresentedProof(value: string): PresentedProof {
  const bytes = Buffer.from(value, 'base64')
  if (bytes.toString('base64') !== value) throw new Error('the proof is not canonical base64')
  if (bytes[0] === 0x7b) {
    const { transaction, secret } = JSON.parse(bytes.toString('utf8')) as { transaction: string; secret: string }
    return { ...readTransaction(Buffer.from(transaction, 'base64')), secret }
  }
  if (/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(bytes.toString('latin1')))
    return { signature: bytes.toString('latin1'), transaction: undefined, secret: undefined }
  return { ...readTransaction(bytes), secret: undefined }
}

function readTransaction(bytes: Uint8Array) {
  const transaction = VersionedTransaction.deserialize(bytes)
  return { transaction, signature: encodeBase58(transaction.signatures[0] ?? new Uint8Array()) }
}
