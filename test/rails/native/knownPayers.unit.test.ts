import { expect, test } from 'vitest'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { splTokenProgram } from '@tollbook/core/programs'
import { readSignature, type Signature } from '@tollbook/core/signature'
import type { TokenMovement } from '../../../src/payment/transactionRecord.ts'
import { createKnownPayers } from '../../../src/rails/solana/knownPayers.ts'

const addressOf = (text: string) => assertPresent(readAddress(text), 'it is an address')
const address = (byte: number): Address => addressOf(encodeBase58(Buffer.alloc(32, byte)))
const wallet = address(1)
const mint = address(2)
const account = address(3)
const tokenProgram = addressOf(splTokenProgram)

function newSignature(number: number): Signature {
  return assertPresent(readSignature(encodeBase58(Buffer.alloc(64, number + 1))), 'it is a signature')
}

function transfer(changes: { readonly source?: Address; readonly authority?: Address; readonly mint?: Address } = {}) {
  const movement: TokenMovement = {
    kind: 'transfer',
    tokenProgram,
    mint,
    authority: wallet,
    source: account,
    destination: address(4),
    amountBaseUnits: 10n,
    ...changes,
  }
  return { movements: [movement], memos: [], balances: undefined }
}

function openPayers() {
  let nowMs = 1
  const payers = createKnownPayers(mint, () => nowMs)
  let payments = 0
  const paid = ({ slot = 1, left = 320n, ownersSeen = [wallet], signature = newSignature(payments++) } = {}) => {
    const balance = { tokenAccount: account, mint, ownersSeen, beforeBaseUnits: 1_000n, afterBaseUnits: left }
    payers.paid(wallet, { signature, slot, balances: [balance] })
  }
  return {
    take: (effects = transfer()) => payers.take(wallet, effects),
    paid,
    pass: (ms: number) => void (nowMs += ms),
  }
}

test('each payment earns one sending, and 16 at most', () => {
  const { take, paid } = openPayers()
  expect(take()).toBe(false)
  paid()
  expect([take(), take()]).toEqual([true, false])
  for (let n = 0; n < 20; n++) paid({ slot: n + 2 })
  expect(Array.from({ length: 20 }, () => take()).filter(Boolean)).toHaveLength(16)
})

test('one payment that is presented many times at once earns one sending', () => {
  const { take, paid } = openPayers()
  const signature = newSignature(0)
  for (let n = 0; n < 16; n++) paid({ signature })
  expect([take(), take()]).toEqual([true, false])
})

test('payments that are presented again in turn earn nothing more, and newer payments do', () => {
  const { take, paid } = openPayers()
  const payments = Array.from({ length: 17 }, (_, slot) => ({ slot, signature: newSignature(slot) }))
  for (const payment of payments) paid(payment)
  while (take()) continue
  for (const payment of payments) paid(payment)
  expect(take()).toBe(false)
  paid({ slot: 17, signature: newSignature(17) })
  expect([take(), take()]).toEqual([true, false])
})

test('the account held 32 times the amount after the newest payment', () => {
  const { take, paid } = openPayers()
  paid({ slot: 2, left: 319n })
  paid({ slot: 1, left: 1_000n })
  expect(take()).toBe(false)
  paid({ slot: 3, left: 320n })
  expect(take()).toBe(true)
})

test.each([
  ['an account that no payment has shown', transfer({ source: address(9) })],
  ['another authority', transfer({ authority: address(9) })],
  ['another mint', transfer({ mint: address(9) })],
])('%s is not taken', (_, effects) => {
  const { take, paid } = openPayers()
  paid()
  expect(take(effects)).toBe(false)
})

test('an account that also belonged to another wallet does not count', () => {
  const { take, paid } = openPayers()
  paid({ ownersSeen: [wallet, address(9)] })
  expect(take()).toBe(false)
})

test('a wallet is known for ten minutes after its last payment', () => {
  const { take, paid, pass } = openPayers()
  paid()
  pass(600_001)
  expect(take()).toBe(false)
})
