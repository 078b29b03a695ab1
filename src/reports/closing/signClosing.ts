import { canonicalJson } from '@tollbook/core/canonicalJson'
import { closingType, type SignedClosing } from '@tollbook/core/closingStatement'
import { compactJws } from '@tollbook/core/compactJws'
import { type Ed25519PrivateJwk, ed25519Signer } from '@tollbook/core/ed25519'
import { type PublicReceiptKey, receiptKeyId } from '../../settings/receiptKeys.ts'
import type { UnsignedClosing } from './readClosing.ts'

/** Signs with the key of receipts. Ed25519 is deterministic, so one statement has one JWS. */
export function signClosing(
  key: Ed25519PrivateJwk & PublicReceiptKey,
  { statement, checkpoint }: UnsignedClosing,
): SignedClosing {
  const header = { alg: 'EdDSA', kid: receiptKeyId(key), typ: closingType } as const
  return { statement, checkpoint, jws: compactJws(ed25519Signer(key), header, canonicalJson({ ...statement })) }
}
