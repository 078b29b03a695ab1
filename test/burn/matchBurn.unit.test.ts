import { expect, test } from 'vitest'
import { findMismatch } from '../../src/burn/matchBurn.ts'
import type { TokenBalance, TokenMovement, TransactionRecord } from '../../src/payment/transactionRecord.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet as former, wallet as present } from '../payment/paymentStory.ts'

/* Two payment wallets on record: the present one, and the former one that an earlier round burned from. */

const otherMint = former
const burnFrom = (source: typeof present, amountBaseUnits: bigint, of = mint): TokenMovement => {
  return { kind: 'burn', tokenProgram: mint, mint: of, authority: present, amountBaseUnits, source }
}
const balanceOf = (tokenAccount: typeof present, leftBaseUnits: bigint, of = mint): TokenBalance => {
  const afterBaseUnits = 100n - leftBaseUnits
  return { tokenAccount, mint: of, ownersSeen: [tokenAccount], beforeBaseUnits: 100n, afterBaseUnits }
}

function mismatch(movements: readonly TokenMovement[], balances: readonly TokenBalance[]) {
  const record: TransactionRecord = {
    signature: signatureNumber(1),
    slot: 1,
    blockTimeMs: 0,
    failure: undefined,
    signers: [],
    memos: [],
    bytes: undefined,
    movements,
    balances,
  }
  return findMismatch(record, { mint, baseUnits: 42n, paymentAccounts: [present, former] })
}

test.each([
  ['the present wallet', present, former],
  ['the former wallet', former, present],
])('a burn out of %s matches when the other one is untouched', (_, account, untouched) => {
  expect(mismatch([burnFrom(account, 42n)], [balanceOf(account, 42n)])).toBeUndefined()
  expect(mismatch([burnFrom(account, 42n)], [balanceOf(account, 42n), balanceOf(untouched, 0n)])).toBeUndefined()
})

test('two burns out of one wallet are judged by their sum', () => {
  expect(mismatch([burnFrom(present, 40n), burnFrom(present, 2n)], [balanceOf(present, 42n)])).toBeUndefined()
})

test.each<[string, readonly TokenMovement[], readonly TokenBalance[], string]>([
  ['burns less', [burnFrom(present, 41n)], [balanceOf(present, 41n)], 'it burned 41 base units, 41 left'],
  ['moves more than it burns', [burnFrom(present, 42n)], [balanceOf(present, 43n)], '43 left'],
  ['moves without a burn', [], [balanceOf(present, 42n)], 'it burned 0 base units, 42 left'],
  ['touches no wallet', [], [], 'it burned 0 base units, 0 left'],
  ['burns another mint', [burnFrom(present, 42n, otherMint)], [balanceOf(present, 42n, otherMint)], 'it burned 0'],
  [
    'also moves tokens out of the other wallet',
    [burnFrom(present, 42n)],
    [balanceOf(present, 42n), balanceOf(former, 9n)],
    'more than one payment wallet',
  ],
  [
    'also moves tokens into the other wallet',
    [burnFrom(present, 42n)],
    [balanceOf(present, 42n), balanceOf(former, -9n)],
    'more than one payment wallet',
  ],
  [
    'burns half out of each',
    [burnFrom(present, 21n), burnFrom(former, 21n)],
    [balanceOf(present, 21n), balanceOf(former, 21n)],
    'more than one payment wallet',
  ],
])('a transaction that %s is not the burn of the round', (_, movements, balances, why) => {
  expect(mismatch(movements, balances)).toContain(why)
})
