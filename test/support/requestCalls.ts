import type { LocalNode } from '@tollbook/localnet/localChain'

/** The calls that a service makes to watch its nodes, by the clock and not by request. */
const scheduled: ReadonlySet<string> = new Set(['getSlot', 'getEpochInfo', 'getBlockTime'])

/** Number of calls of each method that requests caused at a node, since the counts were last forgotten. */
export function requestCalls(node: LocalNode): readonly (readonly [method: string, calls: number])[] {
  return [...node.requestCounts()].filter(([method]) => !scheduled.has(method))
}
