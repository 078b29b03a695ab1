import { expect, onTestFinished, test } from 'vitest'
import type { NodeBehaviour } from '@tollbook/localnet/localChain'
import { type Chain, openChain } from '../../src/chain/openChain.ts'
import { startChainHealth } from '../../src/jobs/chainHealth.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import { silentLog } from '../../src/machine/log.ts'
import { assertPresent } from '@tollbook/core/assert'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { createHeldClock, type HeldClock } from './heldClock.ts'
import { payment } from './fixtureTokens.ts'
import { type ChainFixture, land, newCustomer, openChainFixture } from './chainFixture.ts'
import { openTamperingNode, resultReply } from './tamperingNode.ts'
import { steppedClock } from '../support/steppedClock.ts'

/** A node of the test, and the nodes of the service, whose limits are 20 s without a slot and 50 slots of lag. */
interface Watched {
  readonly fixture: ChainFixture
  readonly clock: HeldClock
  readonly chain: Chain
}

const healthy: NodeBehaviour = {}

async function openWatched(nodes: readonly NodeBehaviour[], clockSkewMs = 0): Promise<Watched> {
  const clock = createHeldClock(systemClock.nowMs())
  const fixture = await openChainFixture('SPL Token', clock, [healthy, ...nodes])
  onTestFinished(() => fixture.chain.close())
  fixture.chain.advanceSlots(40)
  const rpcUrls = fixture.chain.nodes.slice(1).map(({ rpcUrl }) => rpcUrl)
  const chain = await openNodes(fixture, { ...clock, nowMs: () => clock.nowMs() + clockSkewMs }, rpcUrls)
  return { fixture, clock, chain }
}

function openNodes({ terms }: ChainFixture, clock: Clock, rpcUrls: readonly string[]): Promise<Chain> {
  const { mint: tokenMint, paymentWallet } = terms
  return openChain({ rpcUrls, tokenMint, paymentWallet, commitment: 'confirmed', postJson, log: silentLog, clock })
}

/** The chain moves, time passes, and the nodes are polled. */
async function pass({ fixture, clock, chain }: Watched, durationMs: number, slots = 5): Promise<void> {
  fixture.chain.advanceSlots(slots)
  clock.advance(durationMs)
  await chain.nodes.poll()
}

const rotation = ({ chain }: Watched) => chain.nodes.inRotation().map(({ name }) => name)
const problemOf = ({ chain }: Watched, index: number) => chain.nodes.standings()[index]?.problem

test('fault 2 a node that stands still leaves the rotation, and joins it again when it moves', async () => {
  const watched = await openWatched([healthy, healthy])
  watched.fixture.chain.setNode(1, { freeze: true })
  await pass(watched, 2_000)
  expect(rotation(watched)).toContain('node 1')
  await pass(watched, 21_000)
  expect(rotation(watched)).toEqual(['node 2'])
  expect(problemOf(watched, 0)).toMatch(/stands still at slot \d+ for 23 s/)
  watched.fixture.chain.setNode(1, healthy)
  await pass(watched, 2_000)
  expect(rotation(watched)).toEqual(expect.arrayContaining(['node 1', 'node 2']))
})

test('fault 2 a node that is far behind the best one leaves the rotation', async () => {
  const watched = await openWatched([healthy, healthy])
  watched.fixture.chain.setNode(2, { lag: 60 })
  await pass(watched, 2_000, 100)
  expect(rotation(watched)).toEqual(['node 1'])
  expect(problemOf(watched, 1)).toMatch(/60 slots behind the best node; the limit is 50/)
})

test('fault 4 a node of another network that was down at the start never joins', async () => {
  const watched = await openWatched([healthy, { otherGenesis: true, fail: 'unavailable' }])
  expect(problemOf(watched, 1)).toMatch(/has not answered/)
  watched.fixture.chain.setNode(2, { otherGenesis: true })
  await pass(watched, 2_000)
  expect(problemOf(watched, 1)).toMatch(/another network/)
  expect(watched.chain.nodes.candidates().map(({ name }) => name)).toEqual(['node 1'])
})

test('fault 4 one of two nodes does not move the time of the chain ahead, by which payments are too old (I8)', async () => {
  const watched = await openWatched([healthy, healthy])
  const { fixture, clock } = watched
  const liar = await openTamperingNode(fixture.chain.rpcUrl)
  onTestFinished(() => liar.close())
  const chain = await openNodes(fixture, clock, [liar.url, assertPresent(fixture.chain.nodes[2], 'it is there').rpcUrl])
  liar.answer('getBlockTime', () => resultReply(Math.floor(clock.nowMs() / 1000) + 3_600))
  fixture.chain.setNode(2, { fail: 'unavailable', only: ['getBlockTime'] })

  await pass({ ...watched, chain }, 11_000)

  expect(chain.nodes.time.timeMs()).toBeLessThanOrEqual(clock.nowMs())
})

test('fault 4 a node is identified again after each outage', async () => {
  const watched = await openWatched([healthy, healthy])
  watched.fixture.chain.setNode(2, { fail: 'disconnect' })
  await pass(watched, 2_000)
  watched.fixture.chain.setNode(2, { otherGenesis: true })
  await pass(watched, 2_000)
  expect(rotation(watched)).toEqual(['node 1'])
})

test('fault 4 a payment that one of two nodes hides is not reversed, and one that both lack is', async () => {
  const watched = await openWatched([healthy, healthy])
  const payer = await newCustomer(watched.fixture)
  const signature = await land(watched.fixture, payment(watched.fixture, payer), [payer.keypair])
  const slot = await watched.fixture.connection.getSlot('processed')
  await pass(watched, 2_000, 400)
  const question = { signature, slot, transaction: undefined, isPaidBy: () => true }
  const findReversal = () => watched.chain.finality.findReversal(question)

  watched.fixture.chain.setNode(1, { hide: [signature] })
  expect(await findReversal()).toBeUndefined()
  watched.fixture.chain.setNode(2, { hide: [signature] })
  expect(await findReversal()).toMatchObject({ reason: 'absent', nodes: 2 })
  // The one that is left is not enough where two are configured.
  watched.fixture.chain.setNode(2, { fail: 'disconnect' })
  await pass(watched, 2_000)
  expect(await findReversal()).toBeUndefined()
})

test('fault 2 while the only node stands still there are no quotes, and health says why', async () => {
  const watched = await openWatched([healthy])
  const clock = steppedClock()
  const { nodes } = watched.chain
  const health = startChainHealth({ clock, log: silentLog, nodes, clockSkewMaxMs: 60_000 })
  onTestFinished(() => health.stop())
  expect([health.problem(), health.whyNoQuotes()]).toEqual([undefined, undefined])
  watched.fixture.chain.setNode(1, { freeze: true })
  await pass(watched, 30_000)
  await clock.step()
  expect(health.whyNoQuotes()).toMatch(/no Solana node is in rotation: node 1 stands still/)
  expect(health.facts()).toMatchObject({
    nodes: [{ name: 'node 1', problem: expect.stringContaining('stands still') }],
  })
})

test('fault 7 a server clock that is 15 minutes ahead of the chain fails the health and stops nothing', async () => {
  const watched = await openWatched([healthy], 15 * 60 * 1000)
  const { nodes } = watched.chain
  const health = startChainHealth({ clock: steppedClock(), log: silentLog, nodes, clockSkewMaxMs: 60_000 })
  onTestFinished(() => health.stop())
  expect(health.problem()).toMatch(/the clock of this server is 9\d\d s ahead of the newest block/)
  expect(health.whyNoQuotes()).toBeUndefined()
})
