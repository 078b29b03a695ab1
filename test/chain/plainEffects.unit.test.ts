import {
  createApproveInstruction,
  createBurnCheckedInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
} from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, test } from 'vitest'
import { readPlainEffects } from '../../src/chain/plainEffects.ts'
import { memo } from './fixtureTokens.ts'

const wallet = Keypair.generate()
const [account, mint, destination, other] = Array.from({ length: 4 }, () => Keypair.generate().publicKey)
if (account === undefined || mint === undefined || destination === undefined || other === undefined)
  throw new Error('four keys')
const recentBlockhash = other.toBase58()

function signed(instructions: readonly TransactionInstruction[], table?: AddressLookupTableAccount): Uint8Array {
  const message = new TransactionMessage({
    payerKey: wallet.publicKey,
    recentBlockhash,
    instructions: [...instructions],
  }).compileToV0Message(table === undefined ? [] : [table])
  const transaction = new VersionedTransaction(message)
  transaction.sign([wallet])
  return transaction.serialize()
}

const burn = createBurnCheckedInstruction(account, mint, wallet.publicKey, 30n, 6)
const transfer = createTransferCheckedInstruction(account, mint, destination, wallet.publicKey, 70n, 6)
const payment = [ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }), burn, transfer, memo('quote')]

test('the bytes of a plain payment show its movements and its memo', () => {
  const effects = readPlainEffects(signed(payment))
  expect(effects?.memos).toEqual(['quote'])
  expect(effects?.movements.map(({ kind, amountBaseUnits }) => [kind, amountBaseUnits])).toEqual([
    ['burn', 30n],
    ['transfer', 70n],
  ])
})

test.each<[string, TransactionInstruction]>([
  ['another program', SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: other, lamports: 1 })],
  ['a transfer that does not name its mint', createTransferInstruction(account, destination, wallet.publicKey, 1n)],
  ['a token instruction that moves nothing', createApproveInstruction(account, other, wallet.publicKey, 1n)],
])('%s needs a rehearsal', (_, instruction) => {
  expect(readPlainEffects(signed([...payment, instruction]))).toBeUndefined()
})

test('accounts in a lookup table need a rehearsal', () => {
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 }
  const table = new AddressLookupTableAccount({ key: other, state: { ...state, addresses: [destination] } })
  expect(readPlainEffects(signed(payment, table))).toBeUndefined()
})
