import { Keypair, SystemProgram } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { call, fund } from './testChain.ts'
import { found, openNodes, send, signed, simulate } from './testNodes.ts'

test('a healthy node reads, simulates and judges blockhashes in the state of the commitment', async () => {
  const opened = await openNodes({})
  const { chain, at, node, wallet } = opened
  const before = await at(0).getBalance(wallet.publicKey, 'processed')
  const transaction = await signed(opened, wallet, Keypair.generate().publicKey)
  const slot = await at(0).getSlot('processed')
  await send(node(0), transaction)

  const balances = async () => [
    await at(0).getBalance(wallet.publicKey, 'processed'),
    await at(0).getBalance(wallet.publicKey, 'confirmed'),
    await at(0).getBalance(wallet.publicKey, 'finalized'),
  ]
  const after = before - 1_005_000
  expect(await balances()).toEqual([after, before, before])
  const isValid = async (commitment: 'processed' | 'confirmed' | 'finalized') =>
    (await at(0).isBlockhashValid(transaction.blockhash, { commitment })).value
  expect([await isValid('processed'), await isValid('confirmed'), await isValid('finalized')]).toEqual([
    true,
    false,
    false,
  ])

  chain.advanceSlots(1)
  expect(await balances()).toEqual([after, after, before])
  const next = await signed(opened, wallet)
  expect(await simulate(node(0), next, { commitment: 'processed' })).toMatchObject({ value: { err: null } })
  expect(await simulate(node(0), next, { commitment: 'confirmed' })).toMatchObject({
    context: { slot },
    value: { err: 'BlockhashNotFound' },
  })
  expect(await simulate(node(0), next, { commitment: 'confirmed', minContextSlot: slot + 1 })).toMatchObject({
    code: -32016,
    data: { contextSlot: slot },
  })
  chain.advanceSlots(31)
  expect(await balances()).toEqual([after, after, after])
})

test('a simulation at an older commitment starts from the accounts of that slot and changes nothing', async () => {
  const opened = await openNodes({})
  const { chain, at, node, wallet } = opened
  const stranger = Keypair.generate()
  const transaction = await signed(opened, wallet)
  await fund(opened, stranger.publicKey)
  const drain = await signed(opened, stranger)
  chain.advanceSlots(5)

  const accounts = { addresses: [stranger.publicKey.toBase58()] }
  const config = { commitment: 'finalized', replaceRecentBlockhash: true }
  expect(await simulate(node(0), drain, config)).toMatchObject({ value: { err: 'AccountNotFound' } })
  expect(await simulate(node(0), drain, { ...config, commitment: 'confirmed', accounts })).toMatchObject({
    value: { err: null, accounts: [{ lamports: 9_999_995_000 }] },
  })
  expect(await at(0).getBalance(stranger.publicKey, 'processed')).toBe(10_000_000_000)
  const signature = await send(node(0), transaction)
  expect((await at(0).getSignatureStatus(signature)).value?.err).toBeNull()
})

test('a node that lags sees the past: slots, blockhashes, balances, transactions and statuses', async () => {
  const opened = await openNodes({}, { lag: 5 })
  const { chain, at, node, wallet } = opened
  const transaction = await signed(opened, wallet, Keypair.generate().publicKey)
  const signature = await send(node(0), transaction)
  chain.advanceSlots(5)
  const known = async (index: number) => ({
    transaction: (await at(index).getTransaction(signature, found)) !== null,
    status: (await at(index).getSignatureStatus(signature, { searchTransactionHistory: true })).value !== null,
    listed: (await at(index).getSignaturesForAddress(wallet.publicKey)).length,
    balance: await at(index).getBalance(wallet.publicKey),
    blockhash: (await at(index).isBlockhashValid(transaction.blockhash, { commitment: 'confirmed' })).value,
  })

  expect((await at(0).getSlot('processed')) - (await at(1).getSlot('processed'))).toBe(5)
  expect((await at(0).getBlockHeight('finalized')) - (await at(1).getBlockHeight('finalized'))).toBe(5)
  expect(await known(0)).toEqual({
    transaction: true,
    status: true,
    listed: 2,
    balance: 9_998_995_000,
    blockhash: true,
  })
  expect(await known(1)).toEqual({
    transaction: false,
    status: true,
    listed: 1,
    balance: 10_000_000_000,
    blockhash: false,
  })
  expect(await simulate(node(1), await signed(opened, wallet), { commitment: 'processed' })).toMatchObject({
    value: { err: 'BlockhashNotFound' },
  })
  chain.advanceSlots(1)
  expect(await known(1)).toEqual(await known(0))
})

test('a node that lags passes transactions on, and one far behind says that it is unhealthy', async () => {
  const opened = await openNodes({}, { lag: 5 })
  const { chain, at, node, wallet } = opened

  const signature = await send(node(1), await signed(opened, wallet))
  chain.advanceSlots(1)
  expect(await at(0).getTransaction(signature, found)).not.toBeNull()

  chain.setNode(1, { lag: 128 })
  expect((await call(node(1), 'getHealth')).error).toMatchObject({ code: -32005, data: { numSlotsBehind: 128 } })
  const { wire } = await signed(opened, wallet)
  expect((await call(node(1), 'sendTransaction', wire, { encoding: 'base64' })).error?.code).toBe(-32005)
})

test('a node that stands still goes on answering from its slot, however far the others go', async () => {
  const opened = await openNodes({}, {})
  const { chain, at, node, wallet } = opened
  const slot = await at(1).getSlot('processed')
  chain.setNode(1, { freeze: true })
  const signature = await send(node(0), await signed(opened, wallet, Keypair.generate().publicKey))
  chain.advanceSlots(700)

  expect(await at(1).getSlot('processed')).toBe(slot - 1)
  expect((await call(node(1), 'getHealth')).result).toBe('ok')
  expect(await at(1).getBalance(wallet.publicKey)).toBe(10_000_000_000)
  expect((await at(1).getSignatureStatus(signature, { searchTransactionHistory: true })).value).toBeNull()
  const { blockhash } = await at(1).getLatestBlockhash('confirmed')
  expect((await at(1).isBlockhashValid(blockhash, { commitment: 'confirmed' })).value).toBe(true)

  chain.setNode(1, {})
  expect(await at(1).getSlot('processed')).toBe(slot + 700)
  expect(await at(1).getBalance(wallet.publicKey)).toBe(9_998_995_000)
})

test('a node on a fork has its own blocks that never become final, and what it saw vanishes', async () => {
  const opened = await openNodes({}, {})
  const { chain, at, node, wallet } = opened
  const root = await at(1).getSlot('finalized')
  const shared = await signed(opened, wallet, Keypair.generate().publicKey)
  chain.setNode(1, { fork: true })
  const onFork = await send(node(1), shared)
  chain.advanceSlots(50)
  const elsewhere = await send(node(0), await signed(opened, wallet))
  chain.advanceSlots(1)

  expect((await at(1).getSignatureStatus(onFork)).value).toMatchObject({
    confirmationStatus: 'confirmed',
    confirmations: 51,
  })
  expect((await at(0).getSignatureStatus(onFork)).value).toBeNull()
  expect((await at(1).getSignatureStatus(elsewhere)).value).toBeNull()
  expect(await at(1).getSlot('finalized')).toBe(root)
  expect(await at(1).getSlot('processed')).toBe(await at(0).getSlot('processed'))
  const { blockhash } = await at(0).getLatestBlockhash('confirmed')
  expect((await at(1).isBlockhashValid(blockhash, { commitment: 'processed' })).value).toBe(false)

  chain.setNode(1, {})
  expect((await at(1).getSignatureStatus(onFork)).value).toBeNull()
  expect((await at(1).getSignatureStatus(elsewhere)).value).not.toBeNull()
  expect(await send(node(1), shared)).toBe(onFork)
  expect((await at(0).getSignatureStatus(onFork)).value).not.toBeNull()
})

test('a node of another network has another genesis and knows nothing of this one', async () => {
  const opened = await openNodes({}, { otherGenesis: true })
  const { chain, at, node, wallet } = opened
  const signature = await send(node(0), await signed(opened, wallet))
  chain.advanceSlots(1)

  expect(await at(1).getGenesisHash()).not.toBe(chain.genesisHash)
  expect(await at(1).getBalance(wallet.publicKey)).toBe(0)
  expect(await at(1).getTransaction(signature, found)).toBeNull()
  expect(await at(1).getSlot('processed')).toBe(await at(0).getSlot('processed'))
})

test('accounts and transactions can be out of step in both directions', async () => {
  const opened = await openNodes({}, { accountLag: 3 }, { transactionLag: 3 })
  const { chain, at, node, wallet } = opened
  const slot = await at(0).getSlot('processed')
  const signature = await send(node(0), await signed(opened, wallet, Keypair.generate().publicKey))
  chain.advanceSlots(3)
  const seen = async (index: number) => ({
    paid: (await at(index).getBalance(wallet.publicKey, 'processed')) < 10_000_000_000,
    status: (await at(index).getSignatureStatus(signature)).value !== null,
    transaction: (await at(index).getTransaction(signature, found)) !== null,
    slot: await at(index).getSlot('processed'),
    balanceSlot: (await at(index).getBalanceAndContext(wallet.publicKey, 'processed')).context.slot,
  })

  const head = { slot: slot + 3, balanceSlot: slot + 3 }
  expect(await seen(0)).toEqual({ paid: true, status: true, transaction: true, ...head })
  expect(await seen(1)).toEqual({ paid: true, status: true, transaction: true, ...head, balanceSlot: slot })
  expect(await seen(2)).toEqual({ paid: true, status: true, transaction: false, ...head })
  chain.setNode(1, { accountLag: 4 })
  chain.setNode(2, { transactionLag: 4 })
  expect(await seen(1)).toMatchObject({ paid: false, status: true })
  expect(await seen(2)).toMatchObject({ paid: true, status: false })
})

test('accounts of a program are listed as they were in the slot of the node', async () => {
  const opened = await openNodes({}, { lag: 10 })
  const { chain, at, wallet } = opened
  const slot = await at(0).getSlot('processed')
  await fund(opened, wallet.publicKey)
  chain.advanceSlots(9)

  expect(await at(1).getSlot('processed')).toBe(slot)
  const owned = async (index: number) => {
    const accounts = await at(index).getProgramAccounts(SystemProgram.programId, { commitment: 'processed' })
    return accounts.find(({ pubkey }) => pubkey.equals(wallet.publicKey))?.account.lamports
  }
  expect([await owned(0), await owned(1)]).toEqual([20_000_000_000, 20_000_000_000])
  chain.setNode(1, { lag: 11 })
  expect(await owned(1)).toBe(10_000_000_000)
})
