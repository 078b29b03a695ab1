import { sha256Base64Url } from './digest.ts'
import { memoPrefix } from './quote.ts'
import { type Refusal, refuseProof } from './refusal.ts'

/** The memo that binds a payment to the quote with this secret: `tollbook:` + base64url(sha256(secret text)). */
export function memoOfSecret(secret: string): string {
  return memoPrefix + sha256Base64Url(secret)
}

/**
 * Compares the memos of a transaction with the secret that came with it. Returns the memo if the payment is bound,
 * undefined if it is plain. A landed signature is public, so neither the memo nor the secret alone proves anything.
 * Other memos are ignored: callers use them to tell equal payments apart.
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
