import {
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  burnChecked,
  createBurnCheckedInstruction,
  createMint,
  createTransferCheckedInstruction,
  getAccount,
  getMint,
  getOrCreateAssociatedTokenAccount,
  mintTo,
  transferChecked,
} from '@solana/spl-token'
import { Keypair, PublicKey, Transaction, TransactionInstruction, sendAndConfirmTransaction } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { type TestChain, connectTo, openChain } from './testChain.ts'

const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const decimals = 6

describe.each([
  ['SPL Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('with %s', (_, program) => {
  test('spl-token creates a mint and accounts, mints, transfers and burns, and reads it all back', async () => {
    const { chain, connection } = await openChain({ slotMs: 20 })
    const { payer, mint, source, destination } = await prepare({ chain, connection }, program)

    const options = { commitment: 'confirmed' } as const
    await transferChecked(connection, payer, source, mint, destination, payer, 700n, decimals, [], options, program)
    await burnChecked(connection, payer, source, mint, payer, 300n, decimals, [], options, program)

    expect((await getAccount(connection, source, 'confirmed', program)).amount).toBe(999_000n)
    expect((await getAccount(connection, destination, 'confirmed', program)).amount).toBe(700n)
    expect((await getMint(connection, mint, 'confirmed', program)).supply).toBe(999_700n)
    const balance = await connection.getTokenAccountBalance(destination)
    expect(balance.value).toEqual({ amount: '700', decimals: 6, uiAmount: 0.0007, uiAmountString: '0.0007' })
    expect((await connection.getTokenSupply(mint)).value.amount).toBe('999700')
    const largest = await connection.getTokenLargestAccounts(mint)
    expect(largest.value.map(({ amount }) => amount)).toEqual(['999000', '700'])
    const owned = await connection.getTokenAccountsByOwner(payer.publicKey, { mint })
    expect(owned.value.map(({ pubkey }) => pubkey)).toEqual([source])
    const parsed = await connection.getParsedTokenAccountsByOwner(payer.publicKey, { programId: program })
    expect(parsed.value[0]?.account.data.parsed.info.tokenAmount.amount).toBe('999000')
  })

  test('a payment of burn, transfer and memo is read back with its balances in every encoding', async () => {
    const { chain, connection } = await openChain({ slotMs: 20 })
    const { payer, mint, source, destination } = await prepare({ chain, connection }, program)
    const payment = new Transaction().add(
      createBurnCheckedInstruction(source, mint, payer.publicKey, 300n, decimals, [], program),
      createTransferCheckedInstruction(source, mint, destination, payer.publicKey, 700n, decimals, [], program),
      new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from('for the weather') }),
    )

    const signature = await sendAndConfirmTransaction(connection, payment, [payer], { commitment: 'confirmed' })

    const raw = await connection.getTransaction(signature, options)
    const meta = raw?.meta
    expect(meta?.err).toBeNull()
    expect(meta?.fee).toBe(5_000)
    expect(meta?.innerInstructions).toEqual([])
    const [payerBefore = 0] = meta?.preBalances ?? []
    expect(meta?.postBalances[0]).toBe(payerBefore - 5_000)
    const amounts = (balances: typeof meta extends infer M ? NonNullable<M>['preTokenBalances'] : never) =>
      Object.fromEntries(
        (balances ?? []).map(({ owner, mint, programId, uiTokenAmount }) => {
          expect([mint, programId]).toEqual([raw?.transaction.message.staticAccountKeys.find((key) => key.toBase58() === mint)?.toBase58(), program.toBase58()])
          return [owner, uiTokenAmount.amount]
        }),
      )
    expect(Object.values(amounts(meta?.preTokenBalances)).sort()).toEqual(['0', '1000000'])
    expect(amounts(meta?.postTokenBalances)[payer.publicKey.toBase58()]).toBe('999000')

    const parsed = await connection.getParsedTransaction(signature, options)
    expect(parsed?.transaction.message.instructions).toMatchObject([
      { program: 'spl-token', parsed: { type: 'burnChecked', info: { tokenAmount: { amount: '300', decimals: 6 } } } },
      { program: 'spl-token', parsed: { type: 'transferChecked', info: { destination: destination.toBase58() } } },
      { program: 'spl-memo', parsed: 'for the weather' },
    ])
    const [listed] = await connection.getSignaturesForAddress(destination, { limit: 1 })
    expect(listed).toMatchObject({ signature, err: null, memo: '[15] for the weather' })
    expect((await connection.getSignatureStatus(signature)).value?.err).toBeNull()
  })
})

const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const

test('a web3.js that is not told of a WebSocket finds it on the next port', async () => {
  const { chain } = await openChain({ slotMs: 20 })
  const connection = new (connectTo(chain).constructor as typeof import('@solana/web3.js').Connection)(chain.rpcUrl, 'confirmed')
  const signature = await connection.requestAirdrop(Keypair.generate().publicKey, 1_000_000)

  const { value } = await connection.confirmTransaction(signature, 'confirmed')

  expect(value.err).toBeNull()
})

async function prepare({ connection }: TestChain, program: PublicKey) {
  const payer = Keypair.generate()
  const confirm = { commitment: 'confirmed' } as const
  const airdrop = await connection.requestAirdrop(payer.publicKey, 10_000_000_000)
  await connection.confirmTransaction({ signature: airdrop, ...(await connection.getLatestBlockhash()) }, 'confirmed')
  const mint = await createMint(connection, payer, payer.publicKey, null, decimals, Keypair.generate(), confirm, program)
  const accountOf = async (owner: PublicKey) =>
    (await getOrCreateAssociatedTokenAccount(connection, payer, mint, owner, false, 'confirmed', confirm, program)).address
  const source = await accountOf(payer.publicKey)
  const destination = await accountOf(Keypair.generate().publicKey)
  await mintTo(connection, payer, mint, source, payer, 1_000_000n, [], confirm, program)
  return { payer, mint, source, destination }
}
