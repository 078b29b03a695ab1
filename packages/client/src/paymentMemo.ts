import { randomToken } from '@tollbook/core/id'

/** A random memo. Two equal transactions with one blockhash would otherwise be identical and count once. */
export function nonceMemo(): string {
  return `nonce:${randomToken()}`
}
