import { Keypair, type PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { startLocalChain } from '@tollbook/localnet/localChain'
import { type TestChain, connectTo, fundedKeypair, memo, openChain, makeStateDirectory } from './testChain.ts'

test('a program of ours is called like any other, and also after a restart', async () => {
  const stateDirectory = await makeStateDirectory()
  const program = Keypair.generate().publicKey
  const first = await startLocalChain({ slotMs: 0, stateDirectory })
  const target = { chain: first, connection: connectTo(first) }

  first.addProgram(program.toBase58(), await memoElf(target))
  expect(await logsOf(target, program)).toContain('Program log: hello')
  await first.close()

  expect(await logsOf(await openChain({ stateDirectory }), program)).toContain(`Program ${program.toBase58()} success`)
})

test('bytes that are not a program are refused, and a restart does not know them', async () => {
  const stateDirectory = await makeStateDirectory()
  const first = await startLocalChain({ slotMs: 0, stateDirectory })
  const program = Keypair.generate().publicKey.toBase58()

  expect(() => first.addProgram(program, Buffer.from('no ELF'))).toThrow('Failed to add program')
  expect(() => first.addProgram('somewhere', Buffer.from('no ELF'))).toThrow('is not an address')
  await first.close()

  const { connection } = await openChain({ stateDirectory })
  expect(await connection.getTransactionCount()).toBe(0)
})

/** The code of the memo program is what its account holds, so it can serve as a program of ours. */
async function memoElf({ connection }: TestChain): Promise<Uint8Array> {
  const account = await connection.getAccountInfo(memo('').programId)
  if (account === null) throw new Error('expected the memo program')
  return account.data
}

async function logsOf(target: TestChain, programId: PublicKey): Promise<readonly string[]> {
  const payer = await fundedKeypair(target)
  const latest = await target.connection.getLatestBlockhash('processed')
  const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(
    new TransactionInstruction({ programId, keys: [], data: Buffer.from('hello') }),
  )
  transaction.sign(payer)
  const signature = await target.connection.sendRawTransaction(transaction.serialize())
  target.chain.advanceSlots(1)
  const landed = await target.connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
  return landed?.meta?.logMessages ?? []
}
