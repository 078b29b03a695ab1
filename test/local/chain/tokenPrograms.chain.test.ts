import {
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  burnChecked,
  createBurnCheckedInstruction,
  createTransferCheckedInstruction,
  getAccount,
  getMint,
  transferChecked,
} from '@solana/spl-token'
import { Keypair, type TokenBalance, Transaction, sendAndConfirmTransaction } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { connectTo, memo, openChain } from './testChain.ts'
import { confirmed, createPurse, decimals } from './tokenPurse.ts'

const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const

describe.each([
  ['SPL Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('with %s', (_, program) => {
  test('spl-token creates a mint and accounts, mints, transfers and burns, and reads it all back', async () => {
    const { connection } = await openChain({ slotMs: 20 })
    const { payer, mint, source, destination } = await createPurse(connection, program)

    await transferChecked(connection, payer, source, mint, destination, payer, 700n, decimals, [], confirmed, program)
    await burnChecked(connection, payer, source, mint, payer, 300n, decimals, [], confirmed, program)

    expect((await getAccount(connection, source, 'confirmed', program)).amount).toBe(999_000n)
    expect((await getAccount(connection, destination, 'confirmed', program)).amount).toBe(700n)
    expect((await getMint(connection, mint, 'confirmed', program)).supply).toBe(999_700n)
    const balance = await connection.getTokenAccountBalance(destination)
    expect(balance.value).toEqual({ amount: '700', decimals: 6, uiAmount: 0.0007, uiAmountString: '0.0007' })
    expect((await connection.getTokenSupply(mint)).value.amount).toBe('999700')
    const owned = await connection.getTokenAccountsByOwner(payer.publicKey, { mint })
    expect(owned.value.map(({ pubkey }) => pubkey)).toEqual([source])
    const byProgram = await connection.getTokenAccountsByOwner(payer.publicKey, { programId: program })
    expect(byProgram.value).toEqual(owned.value)
  })

  test('a payment of burn, transfer and memo is read back with its balances in every encoding', async () => {
    const { connection } = await openChain({ slotMs: 20 })
    const { payer, mint, source, destination, owner } = await createPurse(connection, program)
    const payment = new Transaction().add(
      createBurnCheckedInstruction(source, mint, payer.publicKey, 300n, decimals, [], program),
      createTransferCheckedInstruction(source, mint, destination, payer.publicKey, 700n, decimals, [], program),
      memo('for the weather'),
    )

    const signature = await sendAndConfirmTransaction(connection, payment, [payer], confirmed)

    const raw = await connection.getTransaction(signature, options)
    const meta = raw?.meta
    expect(meta).toMatchObject({ err: null, fee: 5_000, innerInstructions: [] })
    expect(meta?.postBalances[0]).toBe((meta?.preBalances[0] ?? 0) - 5_000)
    const amounts = (balances: readonly TokenBalance[] | null | undefined) =>
      Object.fromEntries((balances ?? []).map((each) => [each.owner, each.uiTokenAmount.amount]))
    const [payerText, ownerText] = [payer.publicKey.toBase58(), owner.toBase58()]
    expect(amounts(meta?.preTokenBalances)).toEqual({ [payerText]: '1000000', [ownerText]: '0' })
    expect(amounts(meta?.postTokenBalances)).toEqual({ [payerText]: '999000', [ownerText]: '700' })
    for (const each of meta?.postTokenBalances ?? []) {
      expect(each).toMatchObject({ mint: mint.toBase58(), programId: program.toBase58() })
    }

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

test('creating an associated token account shows the calls that it made as inner instructions', async () => {
  const { connection } = await openChain({ slotMs: 20 })
  const { destination } = await createPurse(connection, TOKEN_PROGRAM_ID)
  const creation = (await connection.getSignaturesForAddress(destination)).at(-1)

  const parsed = await connection.getParsedTransaction(creation?.signature ?? '', options)

  expect(parsed?.transaction.message.instructions).toMatchObject([
    { program: 'spl-associated-token-account', parsed: { info: { account: destination.toBase58() } } },
  ])
  expect(parsed?.meta?.innerInstructions).toMatchObject([
    {
      index: 0,
      instructions: [
        { parsed: { type: 'getAccountDataSize' } },
        { program: 'system', parsed: { type: 'createAccount' } },
        { parsed: { type: 'initializeImmutableOwner' } },
        { parsed: { type: 'initializeAccount3' } },
      ],
    },
  ])
})

test('a web3.js that gets only the HTTP address finds the WebSocket on the next port', async () => {
  const { chain } = await openChain({ slotMs: 20 })
  const connection = connectTo({ rpcUrl: chain.rpcUrl })
  const signature = await connection.requestAirdrop(Keypair.generate().publicKey, 1_000_000)

  const confirmation = await connection.confirmTransaction(
    { signature, ...(await connection.getLatestBlockhash()) },
    'confirmed',
  )

  expect(confirmation.value.err).toBeNull()
  expect(chain.requestCounts().get('signatureSubscribe')).toBe(1)
})
