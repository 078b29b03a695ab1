import { sha256Base64Url } from './digest.ts'
import { memoPrefix } from './quote.ts'
import { type Refusal, refuseProof } from './refusal.ts'

/** `tollbook:` + base64url(sha256(secret text)) binds a payment to the quote with this secret. */
export function memoOfSecret(secret: string): string {
  return memoPrefix + sha256Base64Url(secret)
}

/**
 * A landed transaction is public, so its memo proves nothing without the secret. Memos without the prefix are ignored,
 * because callers use them to distinguish equal payments. `memo` is undefined for a plain payment.
 */
export function bindSecret(
  memos: readonly string[],
  secret: string | undefined,
): { memo: string | undefined } | Refusal {
  const bound = memos.filter((memo) => memo.startsWith(memoPrefix))
  const [memo, another] = bound
  if (another !== undefined) return refuseProof('memo_ambiguous')
  if (memo === undefined) return secret === undefined ? { memo: undefined } : refuseProof('memo_missing')
  if (secret === undefined) return refuseProof('secret_required')
  return memo === memoOfSecret(secret) ? { memo } : refuseProof('secret_mismatch')
}
