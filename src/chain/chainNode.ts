import { z } from 'zod'
import { createNodeClient, type NodeCall, type PostJson, type RpcClient } from './nodeClient.ts'

export interface ChainNodeDeps {
  readonly url: string
  /** Place in SOLANA_RPC_URLS, from 1. URLs can carry keys, so nothing else names a node. */
  readonly number: number
  readonly postJson: PostJson
  readonly timeoutMs: number
  readonly nowMs: () => number
  readonly onCall: (call: NodeCall) => void
}

/** One configured node, as far as its answers have shown it. */
export interface ChainNode {
  readonly name: string
  readonly rpc: RpcClient
  /** Highest slot that any of its answers named. */
  slot(): number
  /** Height in the last status, at the commitment `confirmed`. */
  status(): NodeHeight | undefined
  /** The node has answered no call since this time. Undefined while it answers. */
  failingSinceMs(): number | undefined
  /** Time at which its confirmed slot was first seen at this height. */
  advancedAtMs(): number
  /** Undefined until the node has named its genesis, and again after an outage. */
  genesisHash(): string | undefined
  /** Asks for it again before the next call. */
  forgetGenesis(): void
  /** Asks for the genesis hash unless it is known. */
  identify(): Promise<string>
  /** Asks where the node is. */
  poll(): Promise<NodeHeight>
}

export interface NodeHeight {
  readonly slot: number
  readonly height: number
}

const epochInfoJson = z.object({ absoluteSlot: z.int().min(0), blockHeight: z.int().min(0) })

/** One RPC node. Every call updates what is known about it, so health checks add few requests. */
export function createChainNode(deps: ChainNodeDeps): ChainNode {
  const { nowMs } = deps
  let slot = 0
  let status: NodeHeight | undefined
  let advancedAtMs = nowMs()
  let failingSinceMs: number | undefined
  let genesisHash: string | undefined
  const onCall = (call: NodeCall) => {
    deps.onCall(call)
    if (call.contextSlot !== undefined) slot = Math.max(slot, call.contextSlot)
    if (!call.isOutage) failingSinceMs = undefined
    else {
      failingSinceMs ??= nowMs()
      // Another machine may answer at this address afterwards.
      genesisHash = undefined
    }
  }
  const rpc = createNodeClient({ ...deps, onCall })
  return {
    name: `node ${deps.number}`,
    rpc,
    slot: () => slot,
    status: () => status,
    failingSinceMs: () => failingSinceMs,
    advancedAtMs: () => advancedAtMs,
    genesisHash: () => genesisHash,
    forgetGenesis() {
      genesisHash = undefined
    },
    identify: async () => (genesisHash ??= await rpc.call('getGenesisHash', [], z.string().min(32))),
    async poll() {
      const { absoluteSlot, blockHeight } = await rpc.call('getEpochInfo', [{ commitment: 'confirmed' }], epochInfoJson)
      if (status === undefined || absoluteSlot > status.slot) advancedAtMs = nowMs()
      status = { slot: absoluteSlot, height: blockHeight }
      slot = Math.max(slot, absoluteSlot)
      return status
    },
  }
}
