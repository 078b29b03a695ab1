import { expect, test } from 'vitest'
import { readDebit, type SignedDebit, tabIdOf, writeDebit } from '@tollbook/core/tab'

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
