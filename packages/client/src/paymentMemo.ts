import { randomToken } from '@tollbook/core/id'

/** Distinguishes two equal transactions within one blockhash: without it they would be identical and count once. */
export function nonceMemo(): string {
  return `nonce:${randomToken()}`
}
