import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { call, fundedKeypair, openChain } from './testChain.ts'

test('nothing is confirmed before a slot has passed, nor final before 32 have', async () => {
  const { chain, connection } = await openChain()
  const signature = await connection.requestAirdrop(Keypair.generate().publicKey, 1_000_000)
  const status = async () => (await connection.getSignatureStatus(signature)).value
  const found = async (commitment: 'confirmed' | 'finalized') =>
    (await connection.getTransaction(signature, { commitment, maxSupportedTransactionVersion: 0 })) !== null

  expect(await status()).toMatchObject({ confirmationStatus: 'processed', confirmations: 0 })
  expect([await found('confirmed'), await found('finalized')]).toEqual([false, false])

  chain.advanceSlots(1)
  expect(await status()).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 1 })
  expect([await found('confirmed'), await found('finalized')]).toEqual([true, false])

  chain.advanceSlots(30)
  expect(await status()).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 31 })
  expect(await found('finalized')).toBe(false)

  chain.advanceSlots(1)
  expect(await status()).toMatchObject({ confirmationStatus: 'finalized', confirmations: null })
  expect(await found('finalized')).toBe(true)
})

test('slots and blockhashes are older the stronger the commitment is', async () => {
  const { connection } = await openChain()
  const slot = await connection.getSlot('processed')

  expect(await connection.getSlot('confirmed')).toBe(slot - 1)
  expect(await connection.getSlot('finalized')).toBe(slot - 32)
  const newest = await connection.getLatestBlockhash('processed')
  const final = await connection.getLatestBlockhash('finalized')
  expect([newest.lastValidBlockHeight, final.lastValidBlockHeight]).toEqual([slot + 150, slot - 32 + 150])
  expect(newest.blockhash).not.toBe(final.blockhash)
})

test('history is not available at processed, as on a real node', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)

  for (const [method, ...params] of [
    ['getTransaction', '1'.repeat(64), { commitment: 'processed' }],
    ['getSignaturesForAddress', payer.publicKey.toBase58(), { commitment: 'processed' }],
  ] as const) {
    const { error } = await call(target.chain, method, ...params)
    expect(error).toMatchObject({ code: -32602, message: 'Method does not support commitment below `confirmed`' })
  }
})

test('without searchTransactionHistory a status is forgotten after 300 slots', async () => {
  const { chain, connection } = await openChain()
  const signature = await connection.requestAirdrop(Keypair.generate().publicKey, 1_000_000)

  chain.advanceSlots(300)
  expect((await connection.getSignatureStatus(signature)).value?.confirmationStatus).toBe('finalized')
  chain.advanceSlots(1)
  expect((await connection.getSignatureStatus(signature)).value).toBeNull()
  const searched = await connection.getSignatureStatus(signature, { searchTransactionHistory: true })
  expect(searched.value?.confirmationStatus).toBe('finalized')
})

test('a context slot that was not reached yet is refused', async () => {
  const { chain, connection } = await openChain()
  const slot = await connection.getSlot('processed')

  const { error } = await call(chain, 'getBalance', '1'.repeat(32), {
    commitment: 'processed',
    minContextSlot: slot + 1,
  })

  expect(error).toMatchObject({ code: -32016, data: { contextSlot: slot } })
})
