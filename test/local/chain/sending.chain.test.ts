import { Keypair, SendTransactionError, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { advanceOf, openNonce, signWithNonce } from '../../chain/durableNonce.ts'
import { type TestChain, call, fundedKeypair, memo, openChain } from './testChain.ts'

const poorLamports = 1_000_000_000_000_000

test('a transfer beyond the balance fails in preflight with the error and the logs of a node', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const transaction = await signedTransfer(target, payer, poorLamports)

  const failure = await target.connection.sendRawTransaction(transaction.serialize()).catch((error: unknown) => error)

  if (!(failure instanceof SendTransactionError)) throw new Error('expected a SendTransactionError')
  expect(failure.transactionError.message).toBe(
    'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
  )
  expect(failure.logs).toContain('Program 11111111111111111111111111111111 failed: custom program error: 0x1')
  const wire = transaction.serialize().toString('base64')
  const { error } = await call(target.chain, 'sendTransaction', wire, { encoding: 'base64' })
  expect(error).toMatchObject({
    code: -32002,
    data: { err: { InstructionError: [0, { Custom: 1 }] }, unitsConsumed: 150, accounts: null, returnData: null },
  })
  expect(await target.connection.getSignatureStatus(signatureOf(transaction))).toMatchObject({ value: null })
})

test('an error without a number has its name, and words for people', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const latest = await target.connection.getLatestBlockhash('processed')
  const unreadable = new TransactionInstruction({
    programId: SystemProgram.programId,
    keys: [],
    data: Buffer.from([99, 0, 0, 0]),
  })
  const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(unreadable)
  transaction.sign(payer)

  const wire = transaction.serialize().toString('base64')
  const { error } = await call(target.chain, 'sendTransaction', wire, { encoding: 'base64' })

  expect(error).toMatchObject({
    message: 'Transaction simulation failed: Error processing Instruction 0: invalid instruction data',
    data: { err: { InstructionError: [0, 'InvalidInstructionData'] } },
  })
})

test('with skipPreflight the same transfer lands, pays its fee and is recorded with its error', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const transaction = await signedTransfer(target, payer, poorLamports)
  const before = await connection.getBalance(payer.publicKey)

  const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  chain.advanceSlots(1)

  const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(found?.meta?.err).toEqual({ InstructionError: [0, { Custom: 1 }] })
  expect(found?.meta?.logMessages?.at(-1)).toMatch(/failed: custom program error: 0x1/)
  expect(await connection.getBalance(payer.publicKey)).toBe(before - 5_000)
  const status = await connection.getSignatureStatus(signature)
  expect(status.value).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] }, confirmationStatus: 'confirmed' })
})

test('a transfer that would leave an account below rent is refused in the words of a node', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const wire = (await signedTransfer(target, payer, 1)).serialize().toString('base64')

  const { error } = await call(target.chain, 'sendTransaction', wire, { encoding: 'base64' })

  expect(error?.message).toBe(
    'Transaction simulation failed: Transaction results in an account (1) with insufficient funds for rent',
  )
  expect(error?.data).toMatchObject({ err: { InsufficientFundsForRent: { account_index: 1 } } })
})

test('a payer that does not exist leaves no trace even without preflight', async () => {
  const target = await openChain()
  const transaction = await signedTransfer(target, Keypair.generate(), 1_000_000)

  const signature = await target.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  target.chain.advanceSlots(40)

  expect(await target.connection.getSignatureStatus(signature)).toMatchObject({ value: null })
})

test('a landed transaction that is sent again is never executed twice', async () => {
  const target = await openChain()
  const { connection } = target
  const payer = await fundedKeypair(target)
  const transaction = await signedTransfer(target, payer, 1_000_000)
  const signature = await connection.sendRawTransaction(transaction.serialize())
  const balance = await connection.getBalance(payer.publicKey)

  const again = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  const wire = transaction.serialize().toString('base64')
  const { error } = await call(target.chain, 'sendTransaction', wire, { encoding: 'base64' })

  expect(again).toBe(signature)
  expect(error).toMatchObject({ code: -32002, data: { err: 'AlreadyProcessed' } })
  expect(error?.message).toBe('Transaction simulation failed: This transaction has already been processed')
  expect(await connection.getBalance(payer.publicKey)).toBe(balance)
})

test('a landed message under another signature is still the same transaction', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const transaction = await signedTransfer(target, payer, 1_000_000)
  await target.connection.sendRawTransaction(transaction.serialize())
  const balance = await target.connection.getBalance(payer.publicKey)
  // A signer can make any number of valid signatures over one message; it does not matter here whether this one is.
  const twin = Buffer.from(transaction.serialize())
  twin.writeUInt8(twin.readUInt8(20) ^ 1, 20)

  const { error } = await call(target.chain, 'sendTransaction', twin.toString('base64'), { encoding: 'base64' })

  expect(error).toMatchObject({ code: -32002, data: { err: 'AlreadyProcessed' } })
  expect(await target.connection.getBalance(payer.publicKey)).toBe(balance)
})

test('a blockhash is good for 150 slots and not for one more', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('processed')
  const [early, late] = [await signedTransfer(target, payer, 1_000_000), await signedTransfer(target, payer, 2_000_000)]
  expect([early.recentBlockhash, late.recentBlockhash]).toEqual([blockhash, blockhash])

  chain.advanceSlots(150)
  expect(await connection.getBlockHeight('processed')).toBe(lastValidBlockHeight)
  await connection.sendRawTransaction(early.serialize())
  chain.advanceSlots(1)
  const failure = await connection.sendRawTransaction(late.serialize()).catch((error: unknown) => error)

  expect(String(failure)).toContain('Transaction simulation failed: Blockhash not found')
  expect((await connection.isBlockhashValid(blockhash)).value).toBe(false)
  // Without preflight a node takes it and forgets it.
  const signature = await connection.sendRawTransaction(late.serialize(), { skipPreflight: true })
  chain.advanceSlots(1)
  expect(await connection.getSignatureStatus(signature)).toMatchObject({ value: null })
})

test('a transaction for another chain is refused', async () => {
  const [here, there] = [await openChain(), await openChain()]
  const payer = await fundedKeypair(here)
  await there.connection.requestAirdrop(payer.publicKey, 1_000_000_000)
  const transaction = await signedTransfer(here, payer, 1_000_000)

  const failure = await there.connection.sendRawTransaction(transaction.serialize()).catch((error: unknown) => error)

  expect(here.chain.genesisHash).not.toBe(there.chain.genesisHash)
  expect(String(failure)).toContain('Blockhash not found')
})

test.each([true, false])('a wrong signature is refused, skipPreflight %s', async (skipPreflight) => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const wire = Buffer.from((await signedTransfer(target, payer, 1_000_000)).serialize())
  wire.writeUInt8(wire.readUInt8(20) ^ 1, 20)

  const config = { encoding: 'base64', skipPreflight }
  const { error } = await call(target.chain, 'sendTransaction', wire.toString('base64'), config)

  expect(error).toMatchObject({ code: -32003, message: 'Transaction signature verification failure' })
  expect(await target.connection.getBalance(payer.publicKey)).toBe(10_000_000_000)
})

test('a transaction with a durable nonce lands once, however long after it was signed, and again after a dropped fork', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const nonce = await openNonce(target, payer)
  const transaction = await signWithNonce(target, nonce, [memo('later')])
  const rival = await signWithNonce(target, nonce, [memo('instead')])
  chain.advanceSlots(1_000)
  const fork = chain.markFork()

  const signature = await connection.sendRawTransaction(transaction.serialize())
  chain.advanceSlots(1)
  expect((await connection.getSignatureStatus(signature)).value).toMatchObject({ err: null })
  await expect(connection.sendRawTransaction(transaction.serialize())).rejects.toThrow('already been processed')
  await expect(connection.sendRawTransaction(rival.serialize())).rejects.toThrow('Blockhash not found')

  chain.dropFork(fork)
  chain.advanceSlots(1_000)
  expect(await connection.sendRawTransaction(transaction.serialize())).toBe(signature)
})

test('a nonce that no account stores is refused as an unknown blockhash', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const nonce = await openNonce(target, payer)
  const transaction = new Transaction().add(advanceOf(nonce), memo('later'))
  transaction.recentBlockhash = nonce.account.toBase58()
  transaction.sign(payer)

  await expect(target.connection.sendRawTransaction(transaction.serialize())).rejects.toThrow('Blockhash not found')
})

test('a transaction of 1,233 bytes is refused', async () => {
  const { chain } = await openChain()
  const wire = Buffer.alloc(1_233).toString('base64')

  const { error } = await call(chain, 'sendTransaction', wire, { encoding: 'base64' })

  expect(error).toMatchObject({ code: -32602 })
  expect(error?.message).toContain('too large')
})

test('base58, the default encoding, is understood', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const transaction = await signedTransfer(target, payer, 1_000_000)

  const { result } = await call(target.chain, 'sendTransaction', encodeBase58(transaction.serialize()))

  expect(result).toBe(signatureOf(transaction))
})

async function signedTransfer({ connection }: TestChain, payer: Keypair, lamports: number): Promise<Transaction> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('processed')
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight }).add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: Keypair.generate().publicKey, lamports }),
  )
  transaction.sign(payer)
  return transaction
}

function signatureOf(transaction: Transaction): string {
  return encodeBase58(transaction.signature ?? new Uint8Array())
}
