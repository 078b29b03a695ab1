import type { ReceiptSigningKey } from '../config.ts'
import { createReceiptSigner, publicKeysOf, type SignReceipt } from '../paywall/sendReceipt.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Ed25519Signer, ed25519Signer } from '@tollbook/core/ed25519'

/** Uses of the operator's one private key. The key itself stays in this part. */
export interface ReceiptKeys {
  /** Signs checkpoints of the ledger. */
  readonly signer: Ed25519Signer
  readonly signReceipt: SignReceipt
  /** The public half. */
  readonly jwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }
  /** The public half, as a JWK set. */
  readonly published: Json
}

export async function openReceiptKeys(key: ReceiptSigningKey): Promise<ReceiptKeys> {
  const { kty, crv, x } = key
  return {
    jwk: { kty, crv, x },
    signer: ed25519Signer(key),
    signReceipt: await createReceiptSigner(key),
    published: await publicKeysOf(key),
  }
}
