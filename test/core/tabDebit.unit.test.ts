import { expect, test } from 'vitest'
import { toHex } from '@tollbook/core/bytes'
import { sha256Hex } from '@tollbook/core/digest'
import { readDebit, requestDigestOf, type SignedDebit, tabIdOf, writeDebit } from '@tollbook/core/tab'

const most = 2n ** 63n - 1n
const signature = new Uint8Array(64).fill(7)
const debit: SignedDebit = {
  tab: tabIdOf(signature),
  number: most,
  maxBaseUnits: most,
  validUntilMs: 1_790_000_000_000,
  signature,
}

test('a debit is read as it was written, up to the largest number that the ledger can store', () => {
  expect(readDebit(writeDebit(debit))).toEqual(debit)
  expect(readDebit(writeDebit({ ...debit, number: most + 1n }))).toBeUndefined()
  expect(readDebit(writeDebit({ ...debit, maxBaseUnits: most + 1n }))).toBeUndefined()
  expect(readDebit(writeDebit({ ...debit, number: 0n }))).toBeUndefined()
})

test('the digest of a request binds its method, its target and its body', () => {
  const [one, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
  const digests = [
    requestDigestOf('POST', '/a?b=1', one),
    requestDigestOf('POST', '/a?b=1', other),
    requestDigestOf('POST', '/a?b=1', undefined),
    requestDigestOf('PUT', '/a?b=1', one),
    requestDigestOf('POST', '/a?b=2', one),
  ]
  expect(new Set(digests.map((digest) => toHex(digest))).size).toBe(digests.length)
  // The bytes that docs/tabs.md names: method, space, target, newline, and the digest of the body.
  expect(toHex(digests[0] ?? one)).toBe(sha256Hex(Buffer.concat([Buffer.from('POST /a?b=1\n'), one])))
})
