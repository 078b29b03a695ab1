import { z } from 'zod'
import { createNodeClient, type NodeCall, type PostJson, type RpcClient } from './nodeClient.ts'

export interface ChainNodeDeps {
  readonly url: string
  /** Position in SOLANA_RPC_URLS, from 1. Logs and metrics name a node by it, because URLs can contain keys. */
  readonly number: number
  readonly postJson: PostJson
  readonly timeoutMs: number
  readonly nowMs: () => number
  readonly onCall: (call: NodeCall) => void
}

/** One configured node, with what its answers have shown. */
export interface ChainNode {
  readonly name: string
  readonly rpc: RpcClient
  /** The highest slot in any of its answers. */
  slot(): number
  /** Slot and height of its last status, at commitment `confirmed`. */
  status(): NodeHeight | undefined
  /** Time since which the node has answered no call. Undefined while it answers. */
  failingSinceMs(): number | undefined
  /** Time at which its confirmed slot was first seen. */
  advancedAtMs(): number
  /** Undefined until the node has stated its genesis hash, and again after an outage. */
  genesisHash(): string | undefined
  /** Reads the genesis hash again before the next call. */
  forgetGenesis(): void
  /** Reads the genesis hash unless it is known. */
  identify(): Promise<string>
  /** Reads the slot and height of the node. */
  poll(): Promise<NodeHeight>
}

export interface NodeHeight {
  readonly slot: number
  readonly height: number
}

const epochInfoJson = z.object({ absoluteSlot: z.int().min(0), blockHeight: z.int().min(0) })

/** One RPC node. Every call updates its state, so health checks add few requests. */
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
      // After an outage another machine may answer at this address.
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
