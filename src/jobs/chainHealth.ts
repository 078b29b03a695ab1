import type { Json } from '@tollbook/core/canonicalJson'
import { repeat, type RepeatDeps } from './repeat.ts'

export interface NodeWatch {
  poll(): Promise<void>
  inRotation(): readonly unknown[]
  standings(): readonly NodeFacts[]
  /** Returns a slot that the chain has reached for certain. */
  slot(): number
  readonly time: { skewMs(): number }
}

interface NodeFacts {
  readonly name: string
  readonly slot: number
  readonly lagSlots: number
  readonly isSilent: boolean
  readonly problem: string | undefined
}

export interface ChainHealthDeps extends RepeatDeps {
  readonly nodes: NodeWatch
  readonly clockSkewMaxMs: number
}

// Interval between polls, about five slots.
const everyMs = 2_000
// Maximum silence of all nodes. A node that restarts answers again within this time, so a longer silence is an outage.
const silenceMaxMs = 20_000

/** Watches the Solana nodes. The result is usable at once, because `openChain` has polled the nodes. */
export function startChainHealth(deps: ChainHealthDeps) {
  const { nodes, clock, log } = deps
  let rotatedAtMs = clock.monotonicMs()
  let outSince: string | undefined
  let isFailing = false
  const problem = () => outSince ?? describeSkew(deps)
  const task = repeat(deps, {
    name: 'chain watch',
    everyMs,
    async run() {
      await nodes.poll()
      const nowMs = clock.monotonicMs()
      if (nodes.inRotation().length > 0) rotatedAtMs = nowMs
      outSince = describeOutage(nodes, nowMs - rotatedAtMs)
      const found = problem()
      // Log only when a problem begins or ends, because the numbers in the text differ in every run.
      if ((found !== undefined) !== isFailing) log.warn({ event: 'chain_health_changed', problem: found ?? 'none' })
      isFailing = found !== undefined
    },
  })
  return {
    problem,
    /** Returns why no quotes are given. Without a node in rotation, no node could see the payment of a new quote. */
    whyNoQuotes: () => outSince,
    facts: (): Json => ({
      nodes: nodes.standings().map(({ name, slot, lagSlots, problem }) => {
        return { name, slot, lagSlots, ...(problem === undefined ? {} : { problem }) }
      }),
    }),
    stop: () => task.stop(),
  }
}

/**
 * Describes an outage of all nodes. Undefined while a node is in rotation, or while the silence is short enough for a
 * restart.
 */
function describeOutage(nodes: NodeWatch, outMs: number): string | undefined {
  if (nodes.inRotation().length > 0) return undefined
  const problems = nodes.standings().map(({ name, problem }) => `${name} ${problem ?? 'is being identified'}`)
  const isSilent = nodes.standings().every((node) => node.isSilent)
  if (isSilent && outMs <= silenceMaxMs) return undefined
  return `no Solana node is in rotation: ${problems.join('; ')}`
}

function describeSkew({ nodes, clockSkewMaxMs }: ChainHealthDeps): string | undefined {
  const skewMs = nodes.time.skewMs()
  if (Math.abs(skewMs) <= clockSkewMaxMs) return undefined
  const direction = skewMs > 0 ? 'ahead of' : 'behind'
  return `the clock of this server is ${Math.round(Math.abs(skewMs) / 1000)} s ${direction} the newest block; set the clock (ages of payments go by the chain's)`
}
