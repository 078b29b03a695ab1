import type { ChainNode } from './chainNode.ts'

/** Beyond these limits, a node leaves the rotation or a clock difference is reported. */
export interface NodeLimits {
  /** A node without a new slot for this many milliseconds counts as stalled. */
  readonly stillMs: number
  /** Maximum of slots behind the best node. A node that is further behind leaves the rotation. */
  readonly lagSlotsMax: number
  /** Largest accepted difference in milliseconds between this machine's clock and the time of the newest block. */
  readonly clockSkewMaxMs: number
}

export const defaultNodeLimits: NodeLimits = { stillMs: 20_000, lagSlotsMax: 50, clockSkewMaxMs: 60_000 }

export interface NodeStanding {
  readonly name: string
  readonly slot: number
  readonly lagSlots: number
  /** True if the last call to the node had no answer. */
  readonly isSilent: boolean
  /** Reason why the node is out of rotation. Undefined while the node is in rotation. */
  readonly problem: string | undefined
}

interface Judging {
  readonly limits: Pick<NodeLimits, 'stillMs' | 'lagSlotsMax'>
  readonly nowMs: number
  readonly isForeign: (node: ChainNode) => boolean
}

/** Judges each node. The lag counts from the best node that answers on our network. */
export function judgeNodes(nodes: readonly ChainNode[], judging: Judging): NodeStanding[] {
  const { nowMs, isForeign } = judging
  const ours = nodes.filter((node) => !isForeign(node) && node.failingSinceMs() === undefined)
  const best = Math.max(0, ...ours.map((node) => node.status()?.slot ?? 0))
  return nodes.map((node) => {
    const slot = node.status()?.slot ?? 0
    const lagSlots = isForeign(node) ? 0 : Math.max(0, best - slot)
    const problem = isForeign(node)
      ? 'is on another network; check SOLANA_RPC_URLS'
      : (whySilent(node, nowMs) ?? whyLate(node, { ...judging, lagSlots }))
    return { name: node.name, slot, lagSlots, isSilent: node.failingSinceMs() !== undefined, problem }
  })
}

function whySilent(node: ChainNode, nowMs: number): string | undefined {
  const sinceMs = node.failingSinceMs()
  if (sinceMs !== undefined) return `has not answered for ${seconds(nowMs - sinceMs)} s`
  return node.status() === undefined ? 'has not named its slot' : undefined
}

function whyLate(
  node: ChainNode,
  { limits, nowMs, lagSlots }: Judging & { readonly lagSlots: number },
): string | undefined {
  const stillMs = nowMs - node.advancedAtMs()
  if (stillMs > limits.stillMs) return `stands still at slot ${node.status()?.slot} for ${seconds(stillMs)} s`
  return lagSlots > limits.lagSlotsMax
    ? `is ${lagSlots} slots behind the best node; the limit is ${limits.lagSlotsMax}`
    : undefined
}

function seconds(durationMs: number): number {
  return Math.round(durationMs / 1000)
}
