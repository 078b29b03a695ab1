import { createMintToInstruction } from '@solana/spl-token'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type Chain, openChain } from '../../src/chain/openChain.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import { silentLog } from '../../src/machine/log.ts'
import { readCustody } from '../../src/tabs/tabAccounts.ts'
import { mintCases } from './cases/mintCases.ts'
import { type ChainFixture, openChainFixture, stage, transferFee } from './chainFixture.ts'
import { errorReply, openTamperingNode, resultReply } from './tamperingNode.ts'

let fixture: ChainFixture

beforeAll(async () => {
  fixture = await openChainFixture('Token-2022 with a transfer fee')
})
afterAll(() => fixture.chain.close())

function open(changes: { readonly rpcUrls?: readonly string[]; readonly tokenMint?: string } = {}): Promise<Chain> {
  return openChain({
    rpcUrls: [fixture.chain.rpcUrl],
    tokenMint: fixture.terms.mint,
    paymentWallet: fixture.terms.paymentWallet,
    commitment: 'confirmed',
    postJson,
    log: silentLog,
    ...changes,
  })
}

for (const { rule, says, refusedBecause, make } of mintCases) {
  test(`${rule} ${says} is ${refusedBecause === undefined ? 'taken' : 'refused at start, with the reason'}`, async () => {
    const tokenMint = (await make(fixture)).toBase58()

    const opening = open({ tokenMint })

    if (refusedBecause === undefined) expect((await opening).terms.mint).toBe(tokenMint)
    else
      await expect(opening).rejects.toMatchObject({ retryable: false, message: expect.stringMatching(refusedBecause) })
  })
}

test('6b a mint with an extension that is newer than this program is refused at start', async () => {
  const node = await openTamperingNode(fixture.chain.rpcUrl)
  onTestFinished(() => node.close())
  node.answer('getAccountInfo', async ({ forward }) => {
    const { value } = accountAnswer.parse(JSON.parse(await forward())).result
    // Type 999, two bytes long, behind the extensions that the mint has.
    const grown = Buffer.concat([Buffer.from(value.data[0], 'base64'), Buffer.from('e7030200ffff', 'hex')])
    return resultReply({ context: {}, value: { ...value, data: [grown.toString('base64'), 'base64'] } })
  })

  await expect(open({ rpcUrls: [node.url] })).rejects.toMatchObject({
    retryable: false,
    message: expect.stringMatching(/extension 999/),
  })
})

const accountAnswer = z.object({
  result: z.object({ value: z.looseObject({ data: z.tuple([z.string(), z.literal('base64')]) }) }),
})

test('6d the terms name the program that owns the mint, its fee, and the network', async () => {
  const { terms } = await open()

  expect(terms.tokenProgram).toBe(fixture.program.toBase58())
  expect(terms.transferFee?.()).toEqual(transferFee)
  expect(terms.paymentTokenAccount).toBe(fixture.paymentAccount.toBase58())
  expect(terms.network).toBe(`solana:${fixture.chain.genesisHash.slice(0, 32)}`)
})

test('6e a node of another network is refused at start, at any place in the list', async () => {
  const other = await openChainFixture('SPL Token')
  onTestFinished(() => other.chain.close())

  const opening = open({ rpcUrls: [fixture.chain.rpcUrl, other.chain.rpcUrl] })

  await expect(opening).rejects.toMatchObject({ retryable: false, message: expect.stringMatching(/another network/) })
})

test('6e a second node that does not answer at start does not prevent the start', async () => {
  const node = await openTamperingNode(fixture.chain.rpcUrl)
  onTestFinished(() => node.close())
  node.answer('getGenesisHash', () => errorReply(-32005, 'node is behind'))

  await expect(open({ rpcUrls: [fixture.chain.rpcUrl, node.url] })).resolves.toHaveProperty('terms')
})

test('custody reads a balance again that was read a moment ago, because its debts are newer', async () => {
  const { reader } = await open()
  const { mint, paymentWallet: wallet } = fixture.terms
  const deps = {
    tabs: { totals: () => Promise.resolve({ prepaidBaseUnits: 0n, refundsDueBaseUnits: 0n }) },
    chain: reader,
    tabWallets: () => [wallet],
    slot: () => 1,
  }
  const held = async () => (await readCustody(deps, { mint, paymentWallet: wallet })).heldBaseUnits
  const before = await held()
  const { paymentAccount, issuer, program } = fixture
  await stage(fixture, [createMintToInstruction(fixture.mint, paymentAccount, issuer.publicKey, 100n, [], program)])
  expect(await held()).toBe(before + 100n)
})
