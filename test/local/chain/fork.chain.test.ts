import { TOKEN_PROGRAM_ID, transferChecked, unpackAccount } from '@solana/spl-token'
import { SystemProgram, Transaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { fund, fundedKeypair, openChain } from './testChain.ts'
import { confirmed, createPurse, decimals } from './tokenPurse.ts'

test('a dropped fork takes its slots, signatures and balances with it', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const beforeFork = await fund(target, payer.publicKey)
  const [slot, balance] = [await connection.getSlot('processed'), await connection.getBalance(payer.publicKey)]
  const point = chain.markFork()
  const dropped = await fund(target, payer.publicKey)
  chain.advanceSlots(5)
  const { blockhash } = await connection.getLatestBlockhash('processed')
  expect(await connection.getBalance(payer.publicKey)).toBeGreaterThan(balance)

  chain.dropFork(point)

  expect(await connection.getSlot('processed')).toBe(slot)
  expect(await connection.getBalance(payer.publicKey)).toBe(balance)
  expect((await connection.getSignatureStatus(dropped, { searchTransactionHistory: true })).value).toBeNull()
  expect((await connection.getSignatureStatus(beforeFork)).value).not.toBeNull()
  expect(await connection.getSignaturesForAddress(payer.publicKey)).toHaveLength(2)
  chain.advanceSlots(6)
  expect((await connection.isBlockhashValid(blockhash, { commitment: 'processed' })).value).toBe(false)
  expect((await connection.getLatestBlockhash('processed')).blockhash).not.toBe(blockhash)
})

test('a transaction that was dropped with a fork can land again', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const latest = await connection.getLatestBlockhash('processed')
  const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 }),
  )
  transaction.sign(payer)
  const point = chain.markFork()
  const signature = await connection.sendRawTransaction(transaction.serialize())
  chain.advanceSlots(3)

  chain.dropFork(point)
  expect(await connection.sendRawTransaction(transaction.serialize())).toBe(signature)
  chain.advanceSlots(1)

  const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(landed?.slot).toBe(point.slot)
})

test('a point can be gone back to twice, but not one that came after it', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const before = await target.connection.getBalance(payer.publicKey)
  const first = target.chain.markFork()
  await fund(target, payer.publicKey)
  const second = target.chain.markFork()

  target.chain.dropFork(first)
  expect(() => target.chain.dropFork(second)).toThrow('fork point')
  await fund(target, payer.publicKey)
  target.chain.dropFork(first)

  expect(await target.connection.getBalance(payer.publicKey)).toBe(before)
})

test('token accounts of a dropped fork are no longer listed', async () => {
  const { chain, connection } = await openChain({ slotMs: 20 })
  const { payer, mint, source, destination, owner } = await createPurse(connection, TOKEN_PROGRAM_ID)
  const point = chain.markFork()
  await transferChecked(connection, payer, source, mint, destination, payer, 5n, decimals, [], confirmed)
  const listed = async () => {
    const { value } = await connection.getTokenAccountsByOwner(owner, { mint })
    return value.map(({ pubkey, account }) => unpackAccount(pubkey, account).amount)
  }
  expect(await listed()).toEqual([5n])

  chain.dropFork(point)

  expect(await listed()).toEqual([0n])
})
