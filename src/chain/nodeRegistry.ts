import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import { blockhashValidBlocks, type LandingBound } from '../payment/absence.ts'
import type { Log } from '../machine/log.ts'
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
  readonly metrics?: NodeMetrics
}

interface NodeMetrics {
  onRpcCall(call: { readonly method: string; readonly ok: boolean }): void
  onNode(standing: NodeStanding): void
}

/**
 * The nodes of SOLANA_RPC_URLS. A node is in rotation while it is on the right network, answers, advances, and is not
 * far behind the best node. Only nodes in rotation count for the absence of a transaction.
 */
export interface NodeRegistry {
  readonly count: number
  /**
   * Number of nodes that must agree before a payment ends, because its payer may then pay again. 2 if two or more nodes
   * are configured, else 1.
   */
  readonly agreeingMin: number
  readonly time: ChainTime
  inRotation(): readonly ChainNode[]
  /** Nodes in rotation come first. Nodes of another network are left out. */
  candidates(): readonly ChainNode[]
  /** Reads the genesis hash if it is unknown. Throws if the node is on another network. */
  admit(node: ChainNode): Promise<void>
  /** If no node is in rotation, reads the unknown genesis hashes, so that nodes can return before the next poll. */
  readmit(): Promise<void>
  prefer(node: ChainNode): void
  poll(): Promise<void>
  standings(): readonly NodeStanding[]
  /** Every node on our network that advances has reached this slot at `confirmed`. */
  slot(): number
  /** Block height at the highest `slot` of a node on our network. May be too high, never too low. */
  height(): number
  /** Highest confirmed slot that any node on our network has reported. */
  newestSlot(): number
  /** Duration of a slot in milliseconds, from 40 to 400. Measured between two polls. */
  slotMs(): number
  /** No transaction whose blockhash was valid at this slot can land after this height. */
  boundAt(slot: number): LandingBound
  /** No transaction that exists now can land after this height, except with a durable nonce. */
  landingBound(): LandingBound
}

const agreeingMinAtMost = 2
const slotMsStandard = 400
// Lower limit of the measured duration. A local chain can be faster than a cluster.
const slotMsMin = 40
// Assumed duration of a slot for the bound. A shorter duration makes the bound later, which is safe.
const boundSlotMs = 200
// Interval between readings of the block time, which has whole seconds and serves only for ages of minutes.
const tipEveryMs = 10_000

interface Registry extends NodeRegistryDeps {
  readonly nodes: readonly ChainNode[]
  readonly time: ChainTime
  genesisHash: string | undefined
  standings: readonly NodeStanding[]
  preferred: ChainNode | undefined
  reachedSlot: number
  slotMs: number
  polled: { readonly slot: number; readonly atMs: number } | undefined
  tipAskedAtMs: number
}

export function createNodeRegistry(deps: NodeRegistryDeps): NodeRegistry {
  const registry = openRegistry(deps)
  const { nodes, time } = registry
  return {
    count: nodes.length,
    agreeingMin: agreeingMinOf(registry),
    time,
    inRotation: () => inRotation(registry),
    candidates: () => candidates(registry),
    admit: (node) => admit(registry, node),
    readmit: () => readmit(registry),
    prefer(node) {
      registry.preferred = node
    },
    poll: () => poll(registry),
    standings: () => registry.standings,
    slot: () => registry.reachedSlot,
    height: () => heightAt(registry, highestSlot(registry)),
    newestSlot: () => Math.max(0, ...ours(registry).map((node) => node.status()?.slot ?? 0)),
    slotMs: () => registry.slotMs,
    boundAt: (slot) => ({
      lastValidHeight: heightAt(registry, slot) + blockhashValidBlocks,
      basis: 'blockhash_accepted',
    }),
    landingBound: () => landingBound(registry),
  }
}

function openRegistry(deps: NodeRegistryDeps): Registry {
  const { urls, clock, metrics } = deps
  assert(urls.length > 0, 'a chain has a node')
  const nodes = urls.map((url, index) =>
    createChainNode({
      ...deps,
      url,
      number: index + 1,
      nowMs: () => clock.monotonicMs(),
      onCall: ({ method, ok }) => metrics?.onRpcCall({ method, ok }),
    }),
  )
  return {
    ...deps,
    nodes,
    time: createChainTime(clock),
    genesisHash: undefined,
    standings: nodes.map(({ name }) => ({ name, slot: 0, lagSlots: 0, isSilent: false, problem: undefined })),
    preferred: undefined,
    reachedSlot: 0,
    slotMs: slotMsStandard,
    polled: undefined,
    tipAskedAtMs: Number.NEGATIVE_INFINITY,
  }
}

function agreeingMinOf({ nodes }: Pick<Registry, 'nodes'>): number {
  return Math.min(agreeingMinAtMost, nodes.length)
}

function isForeign({ genesisHash }: Registry, node: ChainNode): boolean {
  const hash = node.genesisHash()
  return hash !== undefined && genesisHash !== undefined && hash !== genesisHash
}

function ours(registry: Registry): readonly ChainNode[] {
  return registry.nodes.filter((node) => !isForeign(registry, node))
}

function preferredFirst({ preferred }: Registry, nodes: readonly ChainNode[]): readonly ChainNode[] {
  return [...nodes.filter((node) => node === preferred), ...nodes.filter((node) => node !== preferred)]
}

function inRotation(registry: Registry): readonly ChainNode[] {
  const problems = new Set(registry.standings.flatMap(({ name, problem }) => (problem === undefined ? [] : [name])))
  const well = ours(registry).filter(
    (node) => node.genesisHash() !== undefined && node.failingSinceMs() === undefined && !problems.has(node.name),
  )
  return preferredFirst(registry, well)
}

function candidates(registry: Registry): readonly ChainNode[] {
  const rotation = inRotation(registry)
  const others = ours(registry).filter((node) => !rotation.includes(node))
  return [...rotation, ...preferredFirst(registry, others)]
}

async function admit(registry: Registry, node: ChainNode): Promise<void> {
  const hash = await node.identify()
  registry.genesisHash ??= hash
  if (hash !== registry.genesisHash)
    throw new Fault(`${node.name} of SOLANA_RPC_URLS is on another network`, { retryable: true })
}

async function readmit(registry: Registry): Promise<void> {
  if (inRotation(registry).length > 0) return
  const unidentified = registry.nodes.filter((node) => node.genesisHash() === undefined)
  await Promise.allSettled(unidentified.map((node) => admit(registry, node)))
}

async function poll(registry: Registry): Promise<void> {
  await Promise.all(registry.nodes.map((node) => pollNode(registry, node)))
  judge(registry)
  measurePace(registry)
  await readTip(registry)
}

async function pollNode(registry: Registry, node: ChainNode): Promise<void> {
  try {
    if (isForeign(registry, node)) node.forgetGenesis()
    await admit(registry, node)
    await node.poll()
  } catch (error) {
    registry.log.debug({ event: 'node_poll_failed', node: node.name, error: describeError(error) })
  }
}

function judge(registry: Registry): void {
  const { nodes, limits, clock, log, metrics, standings: before } = registry
  const judging = { limits, nowMs: clock.monotonicMs(), isForeign: (node: ChainNode) => isForeign(registry, node) }
  registry.standings = judgeNodes(nodes, judging)
  for (const [index, standing] of registry.standings.entries()) {
    metrics?.onNode(standing)
    const was = before[index]?.problem
    if (was === undefined && standing.problem !== undefined)
      log.warn({ event: 'node_left_rotation', node: standing.name, problem: standing.problem })
    if (was !== undefined && standing.problem === undefined)
      log.info({ event: 'node_joined_rotation', node: standing.name, slot: standing.slot })
  }
  // Count late nodes too: a node with a far too high slot would be alone in rotation, and the quotes of that moment
  // would refuse every payment as too early.
  const advancing = ours(registry).filter((node) => judging.nowMs - node.advancedAtMs() <= limits.stillMs)
  const slots = advancing.flatMap((node) => node.status()?.slot ?? [])
  if (slots.length > 0) registry.reachedSlot = Math.min(...slots)
}

/** Measures the duration of a slot. Limits it to the standard duration, because a longer one comes from an outage. */
function measurePace(registry: Registry): void {
  const { clock, polled } = registry
  const now = { slot: highestSlot(registry), atMs: clock.monotonicMs() }
  registry.polled = now
  if (polled === undefined || now.slot <= polled.slot) return
  const measuredMs = (now.atMs - polled.atMs) / (now.slot - polled.slot)
  registry.slotMs = Math.min(slotMsStandard, Math.max(slotMsMin, measuredMs))
}

async function readTip(registry: Registry): Promise<void> {
  const { clock, time, tipAskedAtMs } = registry
  if (clock.monotonicMs() - tipAskedAtMs < tipEveryMs) return
  const times = await Promise.all(inRotation(registry).map(readTipTime))
  const known = times.filter((timeMs) => timeMs !== undefined)
  if (known.length === 0) return
  registry.tipAskedAtMs = clock.monotonicMs()
  // Use the lowest time, because a time that is too late would make payments too old. If two nodes are configured and
  // only one answers, that node cannot move the time ahead.
  time.sawTip(Math.min(...known, ...(known.length < agreeingMinOf(registry) ? [time.timeMs()] : [])))
}

function highestSlot(registry: Registry): number {
  return Math.max(0, ...ours(registry).map((node) => node.slot()))
}

function heightAt(registry: Registry, slot: number): number {
  const statuses = ours(registry).flatMap((node) => node.status() ?? [])
  const [best] = statuses.toSorted((one, other) => other.slot - one.slot)
  // A slot has at most one block, so the number of a slot is never lower than its height.
  return best === undefined ? slot : best.height + Math.max(0, slot - best.slot)
}

/**
 * The payer's node may be ahead of ours by the permitted lag, the clock difference, and the time since the last block,
 * so the bound includes all three.
 */
function landingBound(registry: Registry): LandingBound {
  const { time, limits } = registry
  const slot = highestSlot(registry)
  // Without a known height the bound would be in the past, and a payment in flight would seem expired.
  if (slot === 0) throw new Fault('no Solana node has named its height yet', { retryable: true })
  const behindMs = Math.max(0, time.skewMs()) + time.ageMs()
  const allowance = limits.lagSlotsMax + Math.ceil(behindMs / boundSlotMs)
  const lastValidHeight = heightAt(registry, slot) + allowance + blockhashValidBlocks
  return { lastValidHeight, basis: 'first_presentation' }
}

/** Undefined if the node cannot return the time of its newest block. */
async function readTipTime(node: ChainNode): Promise<number | undefined> {
  const slot = node.status()?.slot
  if (slot === undefined) return undefined
  try {
    const seconds = await node.rpc.call('getBlockTime', [slot], z.int().nullable())
    return seconds === null ? undefined : seconds * 1000
  } catch {
    // Ignore the failure, because a later poll tries another slot.
    return undefined
  }
}
