import { TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createNodeRegistry } from '../../src/chain/nodeRegistry.ts'
import { defaultNodeLimits } from '../../src/chain/nodeStanding.ts'
import { createSolanaChainReader } from '../../src/chain/solanaChainReader.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import type { ChainReader } from '../../src/payment/chainReader.ts'
import { Fault } from '@tollbook/core/fault'
import { systemClock } from '@tollbook/core/clock'
import { createHeldClock, type HeldClock } from './heldClock.ts'
import { silentLog } from '../../src/machine/log.ts'
import { changed, nodeCases } from './cases/nodeCases.ts'
import { type Presented, judge, verdictOf } from './cases/verificationCase.ts'
import { payment, relayed } from './fixtureTokens.ts'
import { signedThroughTable } from './lookupTable.ts'
import { type ChainFixture, land, mustFind, newCustomer, openChainFixture, sendAndConfirm } from './chainFixture.ts'
import { type TamperingNode, errorReply, openTamperingNode, resultReply } from './tamperingNode.ts'
import { call } from '../local/chain/testChain.ts'

/*
 * A payment that is good, with everything that an answer can have (co-signer, lookup table, inner instructions), and a
 * node in front of the chain that breaks or lies about it.
 */
let fixture: ChainFixture
let node: TamperingNode
let presented: Presented
/** Stands, so that nothing is forgotten before a test says so. */
let clock: HeldClock

beforeAll(async () => {
  fixture = await openChainFixture('Token-2022')
  node = await openTamperingNode(fixture.chain.rpcUrl)
  const [payer, sponsor] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
  const instructions = payment(fixture, payer).map(relayed)
  const transaction = await signedThroughTable(fixture, instructions, [sponsor.keypair, payer.keypair])
  presented = { signature: await sendAndConfirm(fixture, transaction.serialize()), wallet: payer.address }
})
afterAll(async () => {
  await node.close()
  await fixture.chain.close()
})
beforeEach(() => {
  node.behave()
  clock = createHeldClock(systemClock.nowMs())
  fixture.chain.forgetRequestCounts()
})

// As long as a test may wait for a node that hangs, and much longer than a loopback answer takes.
const timeoutMs = 500

interface ReaderOptions {
  readonly commitment?: 'confirmed' | 'finalized'
  readonly onCall?: (call: { readonly method: string; readonly ok: boolean }) => void
}

async function readerOf(urls: readonly string[], options: ReaderOptions = {}): Promise<ChainReader> {
  const { commitment = 'confirmed', onCall } = options
  const log = silentLog
  const nodes = createNodeRegistry({
    urls,
    postJson,
    timeoutMs,
    log,
    clock,
    limits: defaultNodeLimits,
    ...metricsOf(onCall),
  })
  await nodes.poll()
  node.asked.length = 0
  return createSolanaChainReader({ nodes, log, clock, mint: fixture.terms.mint, commitment })
}

function metricsOf(onRpcCall: ReaderOptions['onCall']) {
  return onRpcCall === undefined ? {} : { metrics: { onRpcCall, onNode: () => undefined } }
}

describe('with one node', () => {
  test('an honest one is believed', async () => {
    expect(verdictOf(await judge({ ...fixture, reader: await readerOf([node.url]) }, presented))).toBe('accepted')
    expect(node.asked).toEqual(['getTransaction'])
  })

  test('a transaction of a version that cannot be rebuilt here is still judged, without its bytes', async () => {
    node.answer(
      'getTransaction',
      changed((answer) => ({ ...answer, version: 1 })),
    )

    const record = await mustFind(await readerOf([node.url]), presented.signature)

    expect(record.bytes).toBeUndefined()
    expect(record.movements).toHaveLength(2)
  })

  test('another payment of the same wallet, real and well signed, is a fault and not the one that was asked for', async () => {
    const payer = await newCustomer(fixture)
    const earlier = await land(fixture, payment(fixture, payer), [payer.keypair])
    const later = await land(fixture, payment(fixture, payer, { burn: fixture.price.burnBaseUnits + 1n }), [
      payer.keypair,
    ])
    const { result } = await call(fixture.chain, 'getTransaction', earlier, {
      commitment: 'confirmed',
      encoding: 'json',
    })
    node.answer('getTransaction', () => resultReply(result))

    const judged = judge(
      { ...fixture, reader: await readerOf([node.url]) },
      { signature: later, wallet: payer.address },
    )

    await expect(judged).rejects.toThrow(Fault)
    expect((await mustFind(fixture.reader, earlier)).failure).toBeUndefined()
  })

  for (const { says, tamper } of nodeCases) {
    test(`${says} is a temporary fault, never a verdict (I8)`, async () => {
      node.answer('getTransaction', tamper)

      const reader = await readerOf([node.url])
      const thrown = await judge({ ...fixture, reader }, presented).catch((error: unknown) => error)

      expect(thrown).toBeInstanceOf(Fault)
      expect(thrown).toMatchObject({ retryable: true })
    })
  }
})

describe('with two nodes', () => {
  for (const { says, tamper } of nodeCases) {
    test(`${says} from the first: the second one is asked, and then preferred`, async () => {
      node.answer('getTransaction', tamper)
      const reader = await readerOf([node.url, fixture.chain.rpcUrl])

      expect(verdictOf(await judge({ ...fixture, reader }, presented))).toBe('accepted')
      clock.advance(10_000)
      expect(verdictOf(await judge({ ...fixture, reader }, presented))).toBe('accepted')

      expect(node.asked).toEqual(['getTransaction'])
    })
  }
})

test('a version 0 transaction without lookup tables is not believed either when its loaded addresses are missing', async () => {
  const payer = await newCustomer(fixture)
  const { blockhash } = await fixture.connection.getLatestBlockhash('processed')
  const instructions = [...payment(fixture, payer)]
  const message = new TransactionMessage({ payerKey: payer.address, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer.keypair])
  const signature = await sendAndConfirm(fixture, transaction.serialize())
  node.answer(
    'getTransaction',
    changed((answer) => ({ ...answer, meta: { ...answer.meta, loadedAddresses: undefined } })),
  )

  const reader = await readerOf([node.url])

  await expect(reader.find(signature)).rejects.toThrow(Fault)
})

test('each call of a node is reported once, with its outcome', async () => {
  node.answer('getTransaction', () => errorReply(-32005, 'node is behind'))
  const reported: unknown[] = []
  const urls = [node.url, fixture.chain.rpcUrl]
  const reader = await readerOf(urls, { onCall: (call) => void reported.push(call) })
  reported.length = 0

  await reader.find(presented.signature)

  const method = 'getTransaction'
  expect(reported).toEqual([
    { method, ok: false },
    { method, ok: true },
  ])
})

test('when the preferred node fails too, the one before it is identified and asked again', async () => {
  const other = await openTamperingNode(fixture.chain.rpcUrl)
  onTestFinished(() => other.close())
  const reader = await readerOf([node.url, other.url])
  node.answer('getTransaction', () => 'cut')
  await reader.find(presented.signature)
  node.behave()
  other.answer('getTransaction', () => 'cut')
  clock.advance(10_000)

  expect(verdictOf(await judge({ ...fixture, reader }, presented))).toBe('accepted')
  // After an outage another machine may answer at this address.
  expect(node.asked).toEqual(['getGenesisHash', 'getTransaction'])
})

test('twenty questions about one signature at the same moment are one call', async () => {
  const reader = await readerOf([node.url])

  const records = await Promise.all(Array.from({ length: 20 }, () => mustFind(reader, presented.signature)))

  expect(new Set(records).size).toBe(1)
  expect(node.asked).toEqual(['getTransaction'])
})

test('at the commitment finalized a payment is not there before 32 slots have passed over it', async () => {
  const payer = await newCustomer(fixture)
  const signature = await land(fixture, payment(fixture, payer), [payer.keypair])
  const reader = await readerOf([node.url], { commitment: 'finalized' })
  const verdict = async () => verdictOf(await judge({ ...fixture, reader }, { signature, wallet: payer.address }))

  fixture.chain.advanceSlots(30)
  expect(await verdict()).toBe('not_found')
  fixture.chain.advanceSlots(1)
  clock.advance(2_000)
  expect(await verdict()).toBe('accepted')
})
