import {
  ExtensionType,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  createAssociatedTokenAccountInstruction,
  createInitializeMintInstruction,
  createInitializeTransferFeeConfigInstruction,
  createMintToInstruction,
  createTransferCheckedWithFeeInstruction,
  getAccount,
  getAssociatedTokenAddressSync,
  getMint,
  getMintLen,
  getTransferFeeAmount,
  getTransferFeeConfig,
} from '@solana/spl-token'
import {
  type GetProgramAccountsFilter,
  Keypair,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  Transaction,
} from '@solana/web3.js'
import { expect, test } from 'vitest'
import { call, fund, fundedKeypair, openChain } from './testChain.ts'
import { createPurse } from './tokenPurse.ts'

test('a Token-2022 mint with a transfer fee withholds it, and both sides show it', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const mint = Keypair.generate()
  const owner = Keypair.generate().publicKey
  const accountOf = (holder: Keypair['publicKey']) =>
    getAssociatedTokenAddressSync(mint.publicKey, holder, false, TOKEN_2022_PROGRAM_ID)
  const [source, destination] = [accountOf(payer.publicKey), accountOf(owner)]
  const space = getMintLen([ExtensionType.TransferFeeConfig])
  const lamports = await connection.getMinimumBalanceForRentExemption(space)
  const transaction = new Transaction().add(
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint.publicKey,
      space,
      lamports,
      programId: TOKEN_2022_PROGRAM_ID,
    }),
    createInitializeTransferFeeConfigInstruction(mint.publicKey, payer.publicKey, null, 100, 9n, TOKEN_2022_PROGRAM_ID),
    createInitializeMintInstruction(mint.publicKey, 2, payer.publicKey, null, TOKEN_2022_PROGRAM_ID),
    ...[payer.publicKey, owner].map((holder) =>
      createAssociatedTokenAccountInstruction(
        payer.publicKey,
        accountOf(holder),
        holder,
        mint.publicKey,
        TOKEN_2022_PROGRAM_ID,
      ),
    ),
    createMintToInstruction(mint.publicKey, source, payer.publicKey, 1_000n, [], TOKEN_2022_PROGRAM_ID),
    createTransferCheckedWithFeeInstruction(
      source,
      mint.publicKey,
      destination,
      payer.publicKey,
      700n,
      2,
      7n,
      [],
      TOKEN_2022_PROGRAM_ID,
    ),
  )
  transaction.feePayer = payer.publicKey
  transaction.recentBlockhash = (await connection.getLatestBlockhash('processed')).blockhash
  transaction.sign(payer, mint)

  const signature = await connection.sendRawTransaction(transaction.serialize())
  chain.advanceSlots(1)

  const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(parsed?.transaction.message.instructions.at(-1)).toMatchObject({
    parsed: { type: 'transferCheckedWithFee', info: { tokenAmount: { amount: '700' }, feeAmount: { amount: '7' } } },
  })
  const arrived = parsed?.meta?.postTokenBalances?.find((each) => each.owner === owner.toBase58())
  expect(arrived).toMatchObject({ programId: TOKEN_2022_PROGRAM_ID.toBase58(), uiTokenAmount: { amount: '693' } })
  const account = await getAccount(connection, destination, 'confirmed', TOKEN_2022_PROGRAM_ID)
  expect([account.amount, getTransferFeeAmount(account)?.withheldAmount]).toEqual([693n, 7n])
  const mintInfo = await getMint(connection, mint.publicKey, 'confirmed', TOKEN_2022_PROGRAM_ID)
  expect(mintInfo.supply).toBe(1_000n)
  expect(getTransferFeeConfig(mintInfo)?.newerTransferFee).toMatchObject({
    transferFeeBasisPoints: 100,
    maximumFee: 9n,
  })
})

test('program accounts are found by size and content', async () => {
  const { connection } = await openChain({ slotMs: 20 })
  const { mint, source, destination, owner } = await createPurse(connection, TOKEN_PROGRAM_ID)
  const find = async (filters: GetProgramAccountsFilter[]) => {
    const found = await connection.getProgramAccounts(TOKEN_PROGRAM_ID, { filters })
    return found.map(({ pubkey }) => pubkey.toBase58())
  }

  const byMint = { memcmp: { offset: 0, bytes: mint.toBase58() } }
  expect((await find([{ dataSize: 165 }, byMint])).sort()).toEqual([source.toBase58(), destination.toBase58()].sort())
  expect(await find([byMint, { memcmp: { offset: 32, bytes: owner.toBase58() } }])).toEqual([destination.toBase58()])
  expect(await find([{ dataSize: 166 }])).toEqual([])
})

test('account data comes in slices and in every encoding', async () => {
  const { chain, connection } = await openChain({ slotMs: 20 })
  const { mint, source } = await createPurse(connection, TOKEN_PROGRAM_ID)
  const read = async (config: object) => (await call(chain, 'getAccountInfo', source.toBase58(), config)).result

  const dataSlice = { offset: 0, length: 32 }
  expect(await read({ encoding: 'base58', dataSlice })).toMatchObject({ value: { data: [mint.toBase58(), 'base58'] } })
  expect(await read({ encoding: 'jsonParsed', dataSlice })).toMatchObject({
    value: { data: [mint.toBuffer().toString('base64'), 'base64'] },
  })
  expect(await read({ dataSlice })).toMatchObject({ value: { data: mint.toBase58(), space: 165 } })
  const { error } = await call(chain, 'getAccountInfo', source.toBase58(), { encoding: 'base58' })
  expect(error).toMatchObject({ code: -32600, message: expect.stringContaining('less than 128 bytes') })
  const several = await connection.getMultipleAccountsInfo([source, Keypair.generate().publicKey])
  expect([several[0]?.data.length, several[1]]).toEqual([165, null])
})

test('token questions about the wrong accounts are refused in the words of a node', async () => {
  const target = await openChain()
  const payer = (await fundedKeypair(target)).publicKey.toBase58()
  const nobody = Keypair.generate().publicKey.toBase58()
  const message = async (method: string, ...params: unknown[]) =>
    (await call(target.chain, method, ...params)).error?.message

  expect(await message('getTokenAccountBalance', nobody)).toBe('Invalid param: could not find account')
  expect(await message('getTokenAccountBalance', payer)).toBe('Invalid param: not a Token account')
  expect(await message('getTokenSupply', nobody)).toBe('Invalid param: could not find mint')
  expect(await message('getTokenSupply', payer)).toBe('Invalid param: not a Token mint')
  const unknownProgram = { programId: nobody }
  expect(await message('getTokenAccountsByOwner', payer, unknownProgram)).toBe(
    'Invalid param: unrecognized Token program id',
  )
})

test('the clock of programs is the slot and the time of the chain', async () => {
  const time = { nowMs: 1_800_000_000_000 }
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => 0, sleep: async () => undefined }
  const target = await openChain({ clock })
  time.nowMs += 3_000
  target.chain.advanceSlots(1)

  const account = await target.connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY)
  const slot = await target.connection.getSlot('processed')

  expect(account?.data.readBigUInt64LE(0)).toBe(BigInt(slot))
  expect(account?.data.readBigInt64LE(32)).toBe(1_800_000_003n)
  target.chain.advanceSlots(1)
  expect(await target.connection.getBlockTime(slot)).toBe(1_800_000_003)
})

test('signatures of an address are paged newest first', async () => {
  const target = await openChain()
  const address = Keypair.generate().publicKey
  const sent: string[] = []
  for (let index = 0; index < 5; index++) sent.unshift(await fund(target, address))
  const [newest, second, third, fourth] = sent
  const page = async (options: Parameters<typeof target.connection.getSignaturesForAddress>[1]) =>
    (await target.connection.getSignaturesForAddress(address, options)).map(({ signature }) => signature)

  expect(await page({})).toEqual(sent)
  expect(await page({ limit: 2 })).toEqual([newest, second])
  expect(await page({ before: second ?? '', limit: 2 })).toEqual([third, fourth])
  expect(await page({ until: third ?? '' })).toEqual([newest, second])
  expect(await page({ before: '1'.repeat(64) })).toEqual([])
  await target.connection.requestAirdrop(address, 1)
  expect(await target.connection.getTransactionCount('processed'), 'also of the slot that is not over').toBe(6)
})

test('a slot that is still to come has no time yet', async () => {
  const { chain, connection } = await openChain()
  const slot = await connection.getSlot('processed')
  expect((await call(chain, 'getBlockTime', slot + 9)).error?.code).toBe(-32004)
})

test('the identity of the chain is returned by every method that clients use for it', async () => {
  const { chain, connection } = await openChain()

  expect(await connection.getGenesisHash()).toBe(chain.genesisHash)
  expect((await connection.getVersion())['solana-core']).toMatch(/^\d+\.\d+\.\d+$/)
  const slot = await connection.getSlot('confirmed')
  expect(await connection.getEpochInfo()).toMatchObject({
    absoluteSlot: slot,
    blockHeight: slot,
    epoch: 0,
    slotIndex: slot,
  })
  expect(await connection.getFirstAvailableBlock()).toBeLessThanOrEqual(slot)
})
