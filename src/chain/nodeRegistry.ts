import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import { blockhashLifeBlocks, type LandingBound } from '../payment/absence.ts'
import type { Log } from '../primitives/log.ts'
import { type ChainNode, createChainNode } from './chainNode.ts'
import { type ChainTime, createChainTime } from './chainTime.ts'
import type { PostJson } from './nodeClient.ts'
import { judgeNodes, type NodeLimits, type NodeStanding } from './nodeStanding.ts'

export interface NodeRegistryDeps {
  readonly urls: readonly string[]
  readonly postJson: PostJson
  readonly timeoutMs: number
  readonly limits: NodeLimits
  readonly clock: Clock
  readonly log: Log
  readonly onCall?: ((call: { readonly method: string; readonly ok: boolean }) => void) | undefined
  readonly onNode?: ((standing: NodeStanding) => void) | undefined
}

/**
 * The nodes of SOLANA_RPC_URLS. A node is in rotation while it is on the right network, answers, moves, and is not far
 * behind the best one. Only nodes in rotation may say that something is absent.
 */
export interface NodeRegistry {
  /** Number of configured nodes. */
  readonly count: number
  readonly time: ChainTime
  inRotation(): readonly ChainNode[]
  /** Every node that may be asked, those in rotation first; never one of another network. */
  candidates(): readonly ChainNode[]
  /** Identifies the node if that is due. Throws when it is on another network. */
  admit(node: ChainNode): Promise<void>
  /** Asks this node first from now on. */
  prefer(node: ChainNode): void
  /** Asks every node where it is. */
  poll(): Promise<void>
  standings(): readonly NodeStanding[]
  /** A confirmed slot that every node in rotation has reached. */
  slot(): number
  /** The greatest block height that is known. */
  height(): number
  /** The newest confirmed slot that is known. */
  newestSlot(): number
  /** Duration of a slot, by the last polls. */
  slotMs(): number
  /** For a transaction whose blockhash was valid in a state of this slot. */
  boundAt(slot: number): LandingBound
  /** For a transaction whose bytes exist by now. */
  landingBound(): LandingBound
}

// The block time moves by whole seconds and only serves ages of minutes.
const tipEveryMs = 10_000
// No cluster has had shorter slots; shorter ones make a bound larger, which is safe.
const slotMsMin = 200
const slotMsStandard = 400

export function createNodeRegistry(deps: NodeRegistryDeps): NodeRegistry {
  const { clock, log, limits } = deps
  const nodes = deps.urls.map((url, index) =>
    createChainNode({
      url,
      number: index + 1,
      postJson: deps.postJson,
      timeoutMs: deps.timeoutMs,
      nowMs: clock.monotonicMs,
      onCall(call) {
        deps.onCall?.({ method: call.method, ok: call.ok })
      },
    }),
  )
  assert(nodes.length > 0, 'a chain has a node')
  const time = createChainTime(clock)
  let genesisHash: string | undefined
  let standings = nodes.map((node): NodeStanding => ({
    name: node.name,
    slot: 0,
    lagSlots: 0,
    isSilent: false,
    problem: undefined,
  }))
  let preferred: ChainNode | undefined
  let reachedSlot = 0
  const pace = createPace(clock)

  const isForeign = (node: ChainNode) => {
    const hash = node.genesisHash()
    return hash !== undefined && genesisHash !== undefined && hash !== genesisHash
  }
  const problemOf = (node: ChainNode) => standings.find(({ name }) => name === node.name)?.problem
  const preferredFirst = (list: readonly ChainNode[]) => [
    ...list.filter((node) => node === preferred),
    ...list.filter((node) => node !== preferred),
  ]
  const inRotation = () =>
    preferredFirst(
      nodes.filter(
        (node) =>
          node.genesisHash() !== undefined &&
          !isForeign(node) &&
          node.failingSinceMs() === undefined &&
          problemOf(node) === undefined,
      ),
    )
  const newestSlot = () => Math.max(0, ...nodes.filter((node) => !isForeign(node)).map((node) => node.slot()))
  const heightAt = (slot: number) => {
    const heights = nodes.flatMap((node) => (isForeign(node) ? [] : (node.status() ?? [])))
    const [best] = heights.toSorted((one, other) => other.slot - one.slot)
    // No slot has more than one block, so a slot's number is never below its height.
    return best === undefined ? slot : best.height + Math.max(0, slot - best.slot)
  }

  async function admit(node: ChainNode): Promise<void> {
    const hash = await node.identify()
    genesisHash ??= hash
    if (hash !== genesisHash) throw new Fault(`${node.name} of SOLANA_RPC_URLS is on another network`, foreign)
  }

  async function pollNode(node: ChainNode): Promise<void> {
    try {
      if (isForeign(node)) node.forgetGenesis()
      await admit(node)
      await node.poll()
    } catch (error) {
      log.debug({ event: 'node_poll_failed', node: node.name, error: describeError(error) })
    }
  }

  function judge(): void {
    const before = standings
    standings = judgeNodes(nodes, { limits, nowMs: clock.monotonicMs(), isForeign })
    for (const [index, standing] of standings.entries()) {
      deps.onNode?.(standing)
      const was = before[index]?.problem
      if (was === undefined && standing.problem !== undefined)
        log.warn({ event: 'node_left_rotation', node: standing.name, problem: standing.problem })
      if (was !== undefined && standing.problem === undefined)
        log.info({ event: 'node_joined_rotation', node: standing.name, slot: standing.slot })
    }
    const slots = inRotation().flatMap((node) => node.status()?.slot ?? [])
    if (slots.length > 0) reachedSlot = Math.max(reachedSlot, Math.min(...slots))
  }

  let tipAskedAtMs = Number.NEGATIVE_INFINITY
  async function readTip(): Promise<void> {
    if (clock.monotonicMs() - tipAskedAtMs < tipEveryMs) return
    const times = await Promise.all(inRotation().map(readTipTime))
    const known = times.filter((timeMs) => timeMs !== undefined)
    if (known.length === 0) return
    tipAskedAtMs = clock.monotonicMs()
    // The lowest, because a time that is too high would make payments too old.
    time.sawTip(Math.min(...known))
  }

  return {
    count: nodes.length,
    time,
    inRotation,
    candidates: () => {
      const rotation = inRotation()
      return [...rotation, ...preferredFirst(nodes.filter((node) => !isForeign(node) && !rotation.includes(node)))]
    },
    admit,
    prefer(node) {
      preferred = node
    },
    async poll() {
      await Promise.all(nodes.map(pollNode))
      judge()
      pace.saw(newestSlot())
      await readTip()
    },
    standings: () => standings,
    slot: () => reachedSlot,
    height: () => heightAt(newestSlot()),
    newestSlot: () => Math.max(0, ...nodes.filter((node) => !isForeign(node)).map((node) => node.status()?.slot ?? 0)),
    slotMs: () => pace.slotMs(),
    boundAt: (slot) => ({ lastValidHeight: heightAt(slot) + blockhashLifeBlocks, basis: 'blockhash_accepted' }),
    landingBound() {
      // A node may be behind the one that the payer uses: by the lag that is allowed, and by the time that our clock
      // and the silence since the last block show.
      const behindMs = Math.max(0, time.skewMs()) + time.ageMs()
      const allowance = limits.lagSlotsMax + Math.ceil(behindMs / slotMsMin)
      const lastValidHeight = heightAt(newestSlot()) + allowance + blockhashLifeBlocks
      return { lastValidHeight, basis: 'first_presentation' }
    },
  }
}

const foreign = { retryable: true }

/** Undefined where the slot has no block, or the node does not know its time. */
async function readTipTime(node: ChainNode): Promise<number | undefined> {
  const slot = node.status()?.slot
  if (slot === undefined) return undefined
  try {
    const seconds = await node.rpc.call('getBlockTime', [slot], z.int().nullable())
    return seconds === null ? undefined : seconds * 1000
  } catch {
    // Another slot is asked for at the next poll.
    return undefined
  }
}

interface Pace {
  saw(slot: number): void
  slotMs(): number
}

/** Slots of a local chain can be shorter than a cluster's; longer ones are an outage and no pace. */
function createPace(clock: Clock): Pace {
  let last: { readonly slot: number; readonly atMs: number } | undefined
  let slotMs = slotMsStandard
  return {
    saw(slot) {
      const atMs = clock.monotonicMs()
      if (last !== undefined && slot > last.slot)
        slotMs = Math.min(slotMsStandard, Math.max(paceMsMin, (atMs - last.atMs) / (slot - last.slot)))
      last = { slot, atMs }
    },
    slotMs: () => slotMs,
  }
}

const paceMsMin = 40
