import { Keypair, PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { readAccounts } from '../../src/chain/accountStates.ts'
import { findReversal } from '../../src/chain/findReversal.ts'
import { createNodeRegistry } from '../../src/chain/nodeRegistry.ts'
import { defaultNodeLimits } from '../../src/chain/nodeStanding.ts'
import { buildPayout } from '../../src/chain/payoutTransaction.ts'
import { proveAbsence } from '../../src/chain/proveAbsence.ts'
import { createRpcClient } from '../../src/chain/rpcClient.ts'
import { createSolanaChainReader } from '../../src/chain/solanaChainReader.ts'
import { createSolanaFinalityReader } from '../../src/chain/solanaFinalityReader.ts'
import { silentLog } from '../../src/machine/log.ts'
import { heldClock, signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { addressOf } from '../support/feePayerKey.ts'

/* Questions to several nodes, each of which answers by a script. Nothing leaves the process. */

type Answer = (params: readonly unknown[]) => unknown
type Script = Readonly<Record<string, Answer>>

class Refused extends Error {}

/** Answers as a node in slot 2,000 without transactions, whose first block is 1 and whose blockhashes have expired. */
const emptyNode: Script = {
  getGenesisHash: () => '1'.repeat(44),
  getEpochInfo: () => ({ absoluteSlot: 2_000, blockHeight: 1_900 }),
  getBlockTime: () => 1_790_000_000,
  getSlot: () => 1_990,
  getFirstAvailableBlock: () => 1,
  isBlockhashValid: () => ({ value: false }),
  getTransaction: () => null,
  getSignatureStatuses: () => ({ context: { slot: 2_000 }, value: [null] }),
}

async function openNodes(...changes: readonly Script[]) {
  const scripts = changes.map((change) => ({ ...emptyNode, ...change }))
  const nodes = createNodeRegistry({
    urls: scripts.map((_, index) => String(index)),
    timeoutMs: 1_000,
    limits: defaultNodeLimits,
    clock: heldClock,
    log: silentLog,
    postJson: async (url, body) => {
      const { method, params } = JSON.parse(body)
      try {
        return { result: scripts[Number(url)]?.[method]?.(params) }
      } catch (error) {
        if (error instanceof Refused) return { error: { code: -32016, message: error.message } }
        throw error
      }
    },
  })
  await nodes.poll()
  return { nodes, log: silentLog }
}

function epochWith({ finalized }: { readonly finalized: number }): Answer {
  return ([options]) => {
    const isFinalized = Reflect.get(Object(options), 'commitment') === 'finalized'
    return { absoluteSlot: 2_000, blockHeight: isFinalized ? finalized : 1_900 }
  }
}

const down: Script = {
  getEpochInfo() {
    throw new Error('the connection is refused')
  },
}
const signature = signatureNumber(1)

test('a transaction is absent only if each node that must agree denies it beyond the height at which it can land', async () => {
  const prove = async (...changes: readonly Script[]) => {
    const bound = { lastValidHeight: 1_800, basis: 'blockhash_accepted' } as const
    return (await proveAbsence(await openNodes(...changes), { signature, bound }))?.evidence.readings.length
  }
  expect(await prove({}, {})).toBe(2)
  expect(await prove({})).toBe(1)
  expect(await prove({}, down)).toBeUndefined()
  const found = { getSignatureStatuses: () => ({ context: { slot: 2_000 }, value: [{ slot: 900, err: null }] }) }
  expect(await prove({}, found)).toBeUndefined()
  const atBound = { getEpochInfo: epochWith({ finalized: 1_800 }) }
  expect(await prove({}, atBound)).toBeUndefined()
  expect(await prove({}, { getEpochInfo: epochWith({ finalized: 1_801 }) })).toBe(2)
  const behind = { getSignatureStatuses: () => ({ context: { slot: 1_999 }, value: [null] }) }
  expect(await prove({}, behind)).toBeUndefined()
})

test('a node is searched after its height was read, so that the search covers every block up to that height', async () => {
  const asked: string[] = []
  const noting = (name: 'getEpochInfo' | 'getSignatureStatuses'): Script => ({
    [name]: (params) => (asked.push(name), emptyNode[name]?.(params)),
  })
  const deps = await openNodes({ ...noting('getEpochInfo'), ...noting('getSignatureStatuses') })
  asked.length = 0
  await proveAbsence(deps, { signature, bound: { lastValidHeight: 1_800, basis: 'blockhash_accepted' } })
  expect(asked).toEqual(['getEpochInfo', 'getSignatureStatuses'])
})

test('a transaction of long ago is absent only if each node still has the blocks that could contain it', async () => {
  const prove = async (blockHeight: number, firstBlock: number) => {
    const node = {
      getEpochInfo: () => ({ absoluteSlot: 60_000, blockHeight }),
      getSignatureStatuses: () => ({ context: { slot: 60_000 }, value: [null] }),
    }
    const deps = await openNodes(node, { ...node, getFirstAvailableBlock: () => firstBlock })
    const bound = { lastValidHeight: 1_800, basis: 'blockhash_accepted' } as const
    return (await proveAbsence(deps, { signature, bound }))?.evidence.readings.length
  }
  // Up to 20,000 slots have passed for 10,000 blocks.
  expect(await prove(11_800, 40_000)).toBe(2)
  expect(await prove(11_800, 40_001)).toBeUndefined()
  expect(await prove(11_799, 59_000), 'each node has blocks that new').toBe(2)
  expect(await prove(41_800, 1), 'a node with the whole chain').toBe(2)
  expect(await prove(41_800, 2)).toBeUndefined()
})

test.each<[string, Script | undefined, string | undefined]>([
  ['both nodes deny it', {}, 'absent'],
  ['a block may still include it', { getSlot: () => 1_299 }, undefined],
  ['that was the last slot for it', { getSlot: () => 1_300 }, 'absent'],
  ['a node has put its block away', { getFirstAvailableBlock: () => 1_001 }, undefined],
  ['its block is the first that a node has', { getFirstAvailableBlock: () => 1_000 }, 'absent'],
  ['its blockhash is still valid', { isBlockhashValid: () => ({ value: true }) }, undefined],
  [
    'a node has searched an older state',
    { getSignatureStatuses: () => ({ context: { slot: 1_989 }, value: [null] }) },
    undefined,
  ],
  ['one of two nodes is away', undefined, undefined],
])('a payment in slot 1,000 that %s', async (_, change, reason) => {
  const transaction = { blockhash: PublicKey.default.toBase58() }
  const question = { signature, slot: 1_000, transaction, isPaidBy: () => true }
  const deps = await openNodes({}, change ?? down)
  expect((await findReversal(deps, Object.assign(Object.create(null), question)))?.reason).toBe(reason)
})

function balanceOf(baseUnits: bigint, slot: number) {
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(baseUnits)
  return { context: { slot }, value: [{ account: { data: [amount.toString('base64'), 'base64'] } }] }
}

async function openReader(...changes: readonly Script[]) {
  const deps = await openNodes(...changes)
  return createSolanaChainReader({ ...deps, mint, commitment: 'confirmed', clock: heldClock })
}

test('of balances that are too low the newest counts, whichever node answers first', async () => {
  const [older, newer] = [balanceOf(7n, 1_990), balanceOf(5n, 1_995)]
  for (const answers of [
    [older, newer],
    [newer, older],
  ]) {
    const reader = await openReader(...answers.map((answer) => ({ getTokenAccountsByOwner: () => answer })))
    expect(await reader.readBalance({ wallet, enoughBaseUnits: 9n })).toEqual({
      baseUnits: 5n,
      slot: 1_995,
      isAgreed: true,
    })
  }
})

test('a balance of a moment ago answers neither a question about a later slot nor one for a fresh reading', async () => {
  let held = 9n
  const reader = await openReader({ getTokenAccountsByOwner: () => balanceOf(held, 2_000) })
  const read = async (question: object) => (await reader.readBalance({ wallet, ...question })).baseUnits
  expect(await read({})).toBe(9n)
  expect(await read({ minSlot: 1 })).toBe(9n)
  held = 3n
  expect([await read({}), await read({ minSlot: 2 })]).toEqual([9n, 3n])
  expect(await read({ minSlot: 1, isFresh: true })).toBe(3n)
  expect([await read({}), await read({ isFresh: true })], 'without a slot too').toEqual([9n, 3n])
})

test('a status that the first node lacks is asked of the second', async () => {
  const finalized = { slot: 900, err: null, confirmationStatus: 'finalized' }
  const second = { getSignatureStatuses: () => ({ context: { slot: 2_000 }, value: [finalized] }) }
  const reader = createSolanaFinalityReader(await openNodes({}, second))
  expect(await reader.findStatuses({ signatures: [signature], searchHistory: false })).toEqual({
    statuses: [{ slot: 900, isFinalized: true, hasFailed: false }],
  })
})

test('accounts are read from a node that has reached the slot', async () => {
  const at = (slot: number, lamports: number): Script => ({
    getMultipleAccounts([, options]) {
      if (Number(Reflect.get(Object(options), 'minContextSlot')) > slot) throw new Refused('the state is older')
      return { value: [{ lamports, owner: wallet, data: ['', 'base64'] }] }
    },
  })
  const rpc = createRpcClient(await openNodes(at(1_990, 1), at(2_000, 2)))
  const read = (minSlot: number) => readAccounts(rpc, { addresses: [otherWallet], commitment: 'confirmed', minSlot })
  expect(await read(1_991)).toMatchObject([{ lamports: 2n }])
  await expect(read(2_001)).rejects.toThrow('getMultipleAccounts')
})

test('a rehearsal that fails on a node behind the newest one is not a verdict', async () => {
  const feePayer = addressOf(Keypair.fromSeed(new Uint8Array(32).fill(3)).publicKey.toBase58())
  const terms = { mint, decimals: 6, tokenProgram: mint, paymentWallet: wallet, paymentTokenAccount: wallet }
  const blockhash = PublicKey.default.toBase58()
  const content = { terms: { ...terms, network: '' }, memo: 'memo', payments: [], opens: [], blockhash, feePayer }
  const bytes = buildPayout(content)
  const failing = (slot: number): Script => ({
    simulateTransaction: () => ({ context: { slot }, value: { err: { InstructionError: [0, { Custom: 1 }] } } }),
  })
  const rehearse = async (...slots: readonly number[]) =>
    (await (await openReader(...slots.map(failing))).simulate({ bytes }, { withoutSignatures: true })).outcome
  expect(await rehearse(2_000, 2_000)).toBe('would_fail')
  expect(await rehearse(2_000, 1_999)).toBe('unknown')
  expect(await rehearse(1_999)).toBe('unknown')
})

test('a transaction that no node has is unseen up to the slot that all of them have reached', async () => {
  const at = (slot: number): Script => ({ getSignatureStatuses: () => ({ context: { slot }, value: [null] }) })
  for (const slots of [
    [1_990, 2_000],
    [2_000, 1_990],
  ]) {
    const reader = await openReader(...slots.map(at))
    expect(await reader.find(signature, { minSlot: 1 })).toMatchObject({ kind: 'unknown', slot: 1_990, isAgreed: true })
  }
})

test('a transaction that one node does not have is not agreed to be unseen while the other node is silent', async () => {
  const silent = {
    getSignatureStatuses() {
      throw new Error('the connection is refused')
    },
  }
  for (const nodes of [
    [{}, silent],
    [silent, {}],
  ]) {
    const reader = await openReader(...nodes)
    expect(await reader.find(signature, { minSlot: 1 })).toMatchObject({
      kind: 'unknown',
      isSeen: false,
      isAgreed: false,
    })
  }
})

test('the slot of the chain is the one that all nodes in rotation have reached, not that of the fastest', async () => {
  const at = (absoluteSlot: number): Script => ({ getEpochInfo: () => ({ absoluteSlot, blockHeight: 1_900 }) })
  for (const slots of [
    [1_995, 2_000],
    [2_000, 1_995],
  ])
    expect((await openNodes(...slots.map(at))).nodes.slot()).toBe(1_995)
})
