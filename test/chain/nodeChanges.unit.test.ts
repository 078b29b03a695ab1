import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { createChainNode } from '../../src/chain/chainNode.ts'
import { createChainTime } from '../../src/chain/chainTime.ts'
import { createNodeRegistry } from '../../src/chain/nodeRegistry.ts'
import { defaultNodeLimits } from '../../src/chain/nodeStanding.ts'
import { readPayerFunds } from '../../src/chain/readPayerFunds.ts'
import { createSolanaChainReader } from '../../src/chain/solanaChainReader.ts'
import { termsOfWallets, tokenAccountOf } from '../../src/chain/walletTerms.ts'
import { silentLog } from '../../src/machine/log.ts'
import { addressOf } from '../support/feePayerKey.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'

/* Nodes whose answers and whose time a test changes. */

type Answer = (params: readonly unknown[]) => unknown

function openNodes(...scripts: readonly Record<string, Answer>[]) {
  const time = { nowMs: 1_790_000_000_000, monotonicMs: 1_000 }
  const clock = {
    nowMs: () => time.nowMs,
    monotonicMs: () => time.monotonicMs,
    sleep: () => Promise.resolve(),
  }
  const genesis = { getGenesisHash: () => '1'.repeat(44), getBlockTime: () => 1_790_000_000 }
  const all = scripts.map((script) => Object.assign(script, { ...genesis, ...script }))
  const asked: { method: string; params: readonly unknown[] }[] = []
  const postJson = async (url: string, body: string) => {
    const { method, params } = JSON.parse(body)
    asked.push({ method, params })
    return { result: all[Number(url)]?.[method]?.(params) }
  }
  const urls = all.map((_, index) => String(index))
  const nodes = createNodeRegistry({
    urls,
    timeoutMs: 1_000,
    limits: defaultNodeLimits,
    clock,
    log: silentLog,
    postJson,
  })
  const pass = (ms: number) => {
    time.nowMs += ms
    time.monotonicMs += ms
  }
  const reader = () => createSolanaChainReader({ nodes, log: silentLog, mint, commitment: 'confirmed', clock })
  return { nodes, clock, time, pass, asked, reader }
}

const epoch = (absoluteSlot: number, blockHeight = absoluteSlot - 100) => ({
  getEpochInfo: () => ({ absoluteSlot, blockHeight }),
})

test('the duration of a slot is measured between polls, and is at most that of a cluster', async () => {
  const node = epoch(1_000)
  const { nodes, pass } = openNodes(node)
  await nodes.poll()
  expect(nodes.slotMs()).toBe(400)
  for (const [passedMs, slots, slotMs] of [
    [1_000, 10, 100],
    [1_000, 1_000, 40],
    [60_000, 10, 400],
    [1_000, 10, 100],
    [1_000, 0, 100],
  ] as const) {
    pass(passedMs)
    const slot = node.getEpochInfo().absoluteSlot + slots
    Object.assign(node, epoch(slot))
    await nodes.poll()
    expect(nodes.slotMs()).toBe(slotMs)
  }
})

test('a transaction that exists now lands within the lag, the difference of the clocks, the age of the block and 150', async () => {
  const { nodes, pass, time } = openNodes({ ...epoch(1_000, 900), getBlockTime: () => 1_789_999_998 })
  expect(() => nodes.landingBound()).toThrow(Fault)
  await nodes.poll()
  // 50 slots of lag, and 2 s by which the clock of this machine is ahead, at 0.2 s for a slot.
  expect(nodes.landingBound()).toEqual({ lastValidHeight: 900 + 50 + 10 + 150, basis: 'first_presentation' })
  pass(1_000)
  expect(nodes.landingBound().lastValidHeight).toBe(900 + 50 + 15 + 150)
  time.nowMs -= 600_000
  expect(nodes.landingBound().lastValidHeight, 'the clock is set back').toBe(900 + 50 + 15 + 150)
  expect(nodes.boundAt(1_007).lastValidHeight).toBe(907 + 150)
  expect(nodes.boundAt(900).lastValidHeight, 'an older slot').toBe(900 + 150)
})

test('a node that once reports a far too high slot dates no later quote, and delays proofs for a minute only', async () => {
  const [honest, liar] = [epoch(1_000, 900), epoch(1_000, 900)]
  const { nodes, pass } = openNodes(honest, liar)
  await nodes.poll()
  const at = async (slot: number, ofLiar = slot) => {
    pass(2_000)
    Object.assign(honest, epoch(slot))
    Object.assign(liar, epoch(ofLiar))
    await nodes.poll()
  }
  await at(1_005, 9_000_000)
  expect(nodes.inRotation().map(({ name }) => name)).toEqual(['node 2'])
  expect(nodes.slot(), 'a quote of this moment').toBe(1_005)
  await at(1_010)
  expect(nodes.slot()).toBe(1_010)
  expect(nodes.landingBound().lastValidHeight, 'perhaps another machine at this address').toBeGreaterThan(8_000_000)
  for (let slot = 1_015; slot <= 1_170; slot += 5) await at(slot)
  expect(nodes.landingBound().lastValidHeight).toBeLessThan(2_000)
})

test('a quote does not wait for a node that stands still', async () => {
  const [one, other] = [epoch(1_000), epoch(990)]
  const { nodes, pass } = openNodes(one, other)
  await nodes.poll()
  expect(nodes.slot()).toBe(990)
  pass(20_001)
  Object.assign(one, epoch(1_050))
  await nodes.poll()
  expect(nodes.slot()).toBe(1_050)
})

test('the time of the chain is the lowest of its nodes, and a single node of two cannot move it ahead', async () => {
  const at = (seconds: number | null) => ({ ...epoch(1_000), getBlockTime: () => seconds })
  const timeOf = async (...seconds: readonly (number | null)[]) => {
    const { nodes } = openNodes(...seconds.map(at))
    await nodes.poll()
    return nodes.time.timeMs() - 1_790_000_000_000
  }
  expect(await timeOf(1_789_999_990, 1_790_000_500)).toBe(-10_000)
  expect(await timeOf(null, 1_790_000_500)).toBe(0)
  expect(await timeOf(null, 1_789_999_990)).toBe(-10_000)
  expect(await timeOf(1_790_000_500)).toBe(500_000)
})

test('the block time goes on by the monotonic clock, whatever the clock of the machine says', () => {
  let [wallMs, monotonicMs] = [5_000, 10]
  const time = createChainTime({ nowMs: () => wallMs, monotonicMs: () => monotonicMs, sleep: () => Promise.resolve() })
  expect([time.timeMs(), time.skewMs()]).toEqual([5_000, 0])
  monotonicMs += 7
  expect(time.ageMs()).toBe(7)
  time.sawTip(4_000)
  monotonicMs += 30
  wallMs += 900
  expect([time.timeMs(), time.skewMs(), time.ageMs()]).toEqual([4_030, 1_000, 30])
})

test('an outage forgets the network of a node, and its beginning is remembered until the node answers', async () => {
  let nowMs = 100
  let isDown = false
  const node = createChainNode({
    url: 'node',
    number: 2,
    timeoutMs: 1,
    nowMs: () => nowMs,
    onCall: () => undefined,
    async postJson(_, body) {
      if (isDown) throw new Error('the connection is refused')
      return { result: body.includes('getGenesisHash') ? '1'.repeat(44) : { absoluteSlot: 7, blockHeight: 5 } }
    },
  })
  expect([node.name, node.advancedAtMs(), node.status()]).toEqual(['node 2', 100, undefined])
  await node.identify()
  nowMs = 200
  await node.poll()
  nowMs = 300
  await node.poll()
  expect([node.genesisHash(), node.advancedAtMs(), node.status()]).toEqual([
    '1'.repeat(44),
    200,
    { slot: 7, height: 5 },
  ])
  isDown = true
  for (nowMs = 400; nowMs < 600; nowMs += 100) await expect(node.poll()).rejects.toThrow('refused')
  expect([node.failingSinceMs(), node.genesisHash()]).toEqual([400, undefined])
  isDown = false
  await node.poll()
  expect([node.failingSinceMs(), node.genesisHash()]).toEqual([undefined, undefined])
})

const balanceOf = (baseUnits: bigint) => {
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(baseUnits)
  return { context: { slot: 1_000 }, value: [{ account: { data: [amount.toString('base64'), 'base64'] } }] }
}

test('a sufficient balance is remembered for 30 s for each mint and wallet, and a failed reading not at all', async () => {
  let held: bigint | undefined
  const {
    nodes,
    pass,
    asked,
    reader: open,
  } = openNodes({
    ...epoch(1_000),
    getTokenAccountsByOwner: () => (held === undefined ? 'garbage' : balanceOf(held)),
  })
  await nodes.poll()
  const reader = open()
  const read = (question: object = {}) => reader.readBalance({ wallet, enoughBaseUnits: 5n, ...question })
  await expect(read()).rejects.toThrow(Fault)
  held = 9n
  expect((await read()).baseUnits).toBe(9n)
  held = 1n
  pass(29_999)
  expect((await read()).baseUnits).toBe(9n)
  expect((await read({ enoughBaseUnits: 10n })).baseUnits, 'more is needed').toBe(1n)
  expect((await read({ mint: otherWallet })).baseUnits, 'another mint').toBe(1n)
  expect((await read({ commitment: 'finalized' })).baseUnits).toBe(1n)
  pass(2)
  expect((await read()).baseUnits).toBe(1n)
  const params = asked
    .filter(({ method }) => method === 'getTokenAccountsByOwner')
    .map(({ params: [, of, how] }) => [of, how])
  expect(params.at(-2)).toEqual([{ mint }, expect.objectContaining({ commitment: 'finalized' })])
  expect(params.at(-3)?.[0]).toEqual({ mint: otherWallet })
})

test('a balance in a state that was asked for is not remembered for others', async () => {
  let held = 9n
  const { nodes, reader: open } = openNodes({ ...epoch(1_000), getTokenAccountsByOwner: () => balanceOf(held) })
  await nodes.poll()
  const reader = open()
  await reader.readBalance({ wallet, enoughBaseUnits: 5n, commitment: 'finalized' })
  held = 1n
  expect((await reader.readBalance({ wallet, enoughBaseUnits: 5n })).baseUnits).toBe(1n)
})

test('a node rehearses what nothing has rehearsed, and a refusal of a repeated sending is not a fault', async () => {
  const sent: unknown[] = []
  const { nodes, reader } = openNodes({
    ...epoch(1_000),
    sendTransaction: ([, options]) => {
      sent.push(options)
      return 'signature'
    },
  })
  await nodes.poll()
  await reader().broadcast({ bytes: new Uint8Array([1]) })
  await reader().broadcast({ bytes: new Uint8Array([1]) }, { rehearses: true })
  expect(sent).toEqual([
    { encoding: 'base64', skipPreflight: true },
    { encoding: 'base64', preflightCommitment: 'confirmed' },
  ])
})

test('an unseen signature is remembered for one slot, but not for a later state or for a payment that was sent', async () => {
  const {
    nodes,
    pass,
    asked,
    reader: open,
  } = openNodes({
    ...epoch(1_000),
    getTransaction: () => null,
    getSignatureStatuses: () => ({ context: { slot: 1_000 }, value: [null] }),
  })
  await nodes.poll()
  const reader = open()
  const signature = signatureNumber(1)
  const searches = async (options: Parameters<typeof reader.find>[1] = {}) => {
    const before = asked.length
    await reader.find(signature, options)
    return asked.length - before
  }
  expect(await searches()).toBe(2)
  expect([await searches(), await searches({ minSlot: 1_000 })]).toEqual([0, 0])
  expect(await searches({ minSlot: 1_001 })).toBe(1)
  expect(await searches({ isSent: true })).toBe(1)
  expect(await searches({ commitment: 'finalized' })).toBe(2)
  pass(401)
  expect(await searches()).toBe(2)
})

test('the tokens of a frozen account, or of one that another wallet owns, cannot pay', async () => {
  const tokenProgram = addressOf('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
  const terms = { mint, decimals: 6, tokenProgram, paymentWallet: otherWallet, paymentTokenAccount: mint, network: '' }
  const token = {
    mint,
    owner: wallet,
    baseUnits: 7n,
    isFrozen: false,
    requiresMemo: false,
    delegate: undefined,
    allowanceBaseUnits: 0n,
  }
  const fundsWith = (changes: Partial<typeof token>) =>
    readPayerFunds(
      {
        terms,
        async readAccounts({ addresses }) {
          expect(addresses).toEqual([tokenAccountOf(terms, wallet), wallet])
          return [
            { lamports: 1n, token: { ...token, ...changes } },
            { lamports: 9n, token: undefined },
          ]
        },
      },
      wallet,
    )
  expect(await fundsWith({})).toEqual({ baseUnits: 7n, lamports: 9n })
  expect((await fundsWith({ isFrozen: true })).baseUnits).toBe(0n)
  expect((await fundsWith({ owner: otherWallet })).baseUnits).toBe(0n)
  const dollar = { ...terms, mint: otherWallet, paymentWallet: wallet }
  const wallets = termsOfWallets([terms, dollar], [wallet, otherWallet]).map((each) => [each.mint, each.paymentWallet])
  expect(wallets).toEqual([
    [mint, otherWallet],
    [mint, wallet],
    [otherWallet, wallet],
    [otherWallet, otherWallet],
  ])
})
