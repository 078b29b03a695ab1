import {
  AccountLayout,
  TOKEN_PROGRAM_ID,
  createAssociatedTokenAccountInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Keypair, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { type TestChain, call, fundedKeypair, openChain } from './testChain.ts'
import { createPurse, decimals } from './tokenPurse.ts'

test('a simulation reports the effects, and has none', async () => {
  const { chain, connection } = await openChain({ slotMs: 20 })
  const { payer, mint, source, destination, owner } = await createPurse(connection, TOKEN_PROGRAM_ID)
  const stranger = Keypair.generate().publicKey
  const account = getAssociatedTokenAddressSync(mint, stranger)
  const instructions = [
    createTransferCheckedInstruction(source, mint, destination, payer.publicKey, 700n, decimals),
    createAssociatedTokenAccountInstruction(payer.publicKey, account, stranger, mint),
  ]
  const wire = await wireOf({ chain, connection }, payer, instructions)

  const { result } = await call(chain, 'simulateTransaction', wire, {
    encoding: 'base64',
    sigVerify: true,
    commitment: 'confirmed',
    innerInstructions: true,
    accounts: { encoding: 'base64', addresses: [destination.toBase58(), Keypair.generate().publicKey.toBase58()] },
  })

  expect(result).toMatchObject({
    value: {
      err: null,
      fee: 5_000,
      replacementBlockhash: null,
      loadedAddresses: { writable: [], readonly: [] },
      accounts: [{ data: [expect.any(String), 'base64'] }, null],
      innerInstructions: [{ index: 1, instructions: [{}, { parsed: { type: 'createAccount' } }, {}, {}] }],
    },
  })
  const [data] = Object(result).value.accounts[0].data
  expect(AccountLayout.decode(Buffer.from(data, 'base64')).amount).toBe(700n)
  const value = await simulatedValue(connection, payer, instructions)
  expect(value.unitsConsumed).toBeGreaterThan(1_000)
  expect(value.logs?.length).toBeGreaterThan(3)
  expect(JSON.stringify(result)).toContain(`"owner":"${owner.toBase58()}","programId":"${TOKEN_PROGRAM_ID.toBase58()}"`)
  expect((await connection.getTokenAccountBalance(destination)).value.amount).toBe('0')
  expect(await connection.getAccountInfo(account)).toBeNull()
})

test('a failing simulation has the error, the logs and no accounts', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1e12 })
  const wire = await wireOf(target, payer, [transfer])

  const config = { encoding: 'base64', accounts: { addresses: [payer.publicKey.toBase58()] } }
  const { result } = await call(target.chain, 'simulateTransaction', wire, config)

  expect(result).toMatchObject({ value: { err: { InstructionError: [0, { Custom: 1 }] }, accounts: [null] } })
})

test('replaceRecentBlockhash simulates what no longer could be sent', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 })
  const wire = await wireOf(target, payer, [transfer])
  target.chain.advanceSlots(200)

  const refused = await call(target.chain, 'simulateTransaction', wire, { encoding: 'base64' })
  const replaced = await call(target.chain, 'simulateTransaction', wire, {
    encoding: 'base64',
    replaceRecentBlockhash: true,
  })
  const both = { encoding: 'base64', replaceRecentBlockhash: true, sigVerify: true }
  const contradictory = await call(target.chain, 'simulateTransaction', wire, both)

  expect(refused.result).toMatchObject({ value: { err: 'BlockhashNotFound' } })
  const newest = await target.connection.getLatestBlockhash('processed')
  expect(replaced.result).toMatchObject({ value: { err: null, replacementBlockhash: newest } })
  expect(contradictory.error?.code).toBe(-32602)
})

test('unsigned transactions can be simulated, and with sigVerify they cannot', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const latest = await target.connection.getLatestBlockhash('processed')
  const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 }),
  )
  const wire = transaction.serialize({ requireAllSignatures: false }).toString('base64')

  const unverified = await call(target.chain, 'simulateTransaction', wire, { encoding: 'base64' })
  const verified = await call(target.chain, 'simulateTransaction', wire, { encoding: 'base64', sigVerify: true })

  expect(unverified.result).toMatchObject({ value: { err: null } })
  expect(verified.error?.code).toBe(-32003)
  expect((await target.connection.simulateTransaction(transaction, [payer])).value.err).toBeNull()
})

type Instructions = ConstructorParameters<typeof TransactionMessage>[0]['instructions']

async function signed(connection: TestChain['connection'], payer: Keypair, instructions: Instructions) {
  const { blockhash } = await connection.getLatestBlockhash('processed')
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer])
  return transaction
}

async function wireOf({ connection }: TestChain, payer: Keypair, instructions: Instructions): Promise<string> {
  return Buffer.from((await signed(connection, payer, instructions)).serialize()).toString('base64')
}

async function simulatedValue(connection: TestChain['connection'], payer: Keypair, instructions: Instructions) {
  const transaction = await signed(connection, payer, instructions)
  return (await connection.simulateTransaction(transaction, { sigVerify: true, innerInstructions: true })).value
}
