import {
  AddressLookupTableProgram,
  Keypair,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, test } from 'vitest'
import { type TestChain, call, fundedKeypair, openChain } from './testChain.ts'

test('a v0 transaction takes its addresses from a lookup table and says so', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const recipient = Keypair.generate().publicKey
  const table = await createTable(target, payer, [recipient])

  const signature = await connection.sendTransaction(await transferThrough(target, payer, table, recipient))
  chain.advanceSlots(1)

  const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(landed?.version).toBe(0)
  expect(landed?.meta?.err).toBeNull()
  expect(landed?.meta?.loadedAddresses).toEqual({ writable: [recipient], readonly: [] })
  const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(parsed?.transaction.message.accountKeys.at(-1)).toEqual({
    pubkey: recipient,
    signer: false,
    writable: true,
    source: 'lookupTable',
  })
  expect(await connection.getBalance(recipient)).toBe(1_000_000)
  const [listed] = await connection.getSignaturesForAddress(recipient)
  expect(listed?.signature).toBe(signature)
})

test('a client that does not know v0 is told to ask again, and any higher number will do', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const recipient = Keypair.generate().publicKey
  const table = await createTable(target, payer, [recipient])
  const signature = await target.connection.sendTransaction(await transferThrough(target, payer, table, recipient))
  target.chain.advanceSlots(1)

  const { error } = await call(target.chain, 'getTransaction', signature, { commitment: 'confirmed' })
  const future = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 }
  const { result } = await call(target.chain, 'getTransaction', signature, future)

  expect(error).toMatchObject({ code: -32015 })
  expect(error?.message).toContain('"maxSupportedTransactionVersion": 0')
  expect(result).toMatchObject({ version: 0 })
})

test('a lookup in a table that does not exist is a mistake of the caller', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const recipient = Keypair.generate().publicKey
  const table = await createTable(target, payer, [recipient])
  const transaction = await transferThrough(target, payer, table, recipient)
  const [lookup] = transaction.message.addressTableLookups
  if (lookup === undefined) throw new Error('expected a lookup')
  lookup.accountKey = Keypair.generate().publicKey

  const wire = Buffer.from(transaction.serialize()).toString('base64')
  const { error } = await call(target.chain, 'sendTransaction', wire, { encoding: 'base64' })

  expect(error).toMatchObject({
    code: -32602,
    message: "invalid transaction: Transaction loads an address table account that doesn't exist",
  })
})

async function createTable({ chain, connection }: TestChain, payer: Keypair, addresses: Keypair['publicKey'][]) {
  const recentSlot = await connection.getSlot('confirmed')
  const by = { authority: payer.publicKey, payer: payer.publicKey }
  const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({ ...by, recentSlot })
  const extend = AddressLookupTableProgram.extendLookupTable({ ...by, lookupTable, addresses })
  const { blockhash } = await connection.getLatestBlockhash('processed')
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [create, extend],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer])
  await connection.sendTransaction(transaction)
  // Addresses added to a table can be used from the next slot on.
  chain.advanceSlots(1)
  return lookupTable
}

async function transferThrough(
  { connection }: TestChain,
  payer: Keypair,
  table: Keypair['publicKey'],
  recipient: Keypair['publicKey'],
): Promise<VersionedTransaction> {
  const { value } = await connection.getAddressLookupTable(table)
  if (value === null) throw new Error('expected a lookup table')
  const { blockhash } = await connection.getLatestBlockhash('processed')
  const transfer = { fromPubkey: payer.publicKey, toPubkey: recipient, lamports: 1_000_000 }
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [SystemProgram.transfer(transfer)],
  }).compileToV0Message([value])
  const transaction = new VersionedTransaction(message)
  transaction.sign([payer])
  return transaction
}
