import { z } from 'zod'
import { createNodeClient, type NodeCall, type PostJson, type RpcClient } from './nodeClient.ts'

export interface ChainNodeDeps {
  readonly url: string
  /**
   * Position in SOLANA_RPC_URLS, from 1. Logs and metrics use this number as the node's name, because URLs can contain
   * keys.
   */
  readonly number: number
  readonly postJson: PostJson
  readonly timeoutMs: number
  readonly nowMs: () => number
  readonly onCall: (call: NodeCall) => void
}

export interface ChainNode {
  readonly name: string
  readonly rpc: RpcClient
  /** The highest slot that the node has stated. A slot far above its polls is dropped after a minute. */
  slot(): number
  /** Slot and height at commitment `confirmed`. Undefined before the first status. */
  status(): NodeHeight | undefined
  /** All calls to the node have failed since this time. Undefined while the node answers. */
  failingSinceMs(): number | undefined
  /**
   * A poll last found a higher confirmed slot at this time. Before the first status, the time at which this object was
   * created.
   */
  advancedAtMs(): number
  /**
   * Undefined until the node has stated it, and again after an outage, because another machine may answer at this
   * address.
   */
  genesisHash(): string | undefined
  forgetGenesis(): void
  /** Returns the genesis hash. Queries the node only if the hash is unknown. */
  identify(): Promise<string>
  poll(): Promise<NodeHeight>
}

export interface NodeHeight {
  readonly slot: number
  readonly height: number
}

export const epochInfoJson = z.object({ absoluteSlot: z.int().min(0), blockHeight: z.int().min(0) })

// A slot that stays this far above the node's polls for a whole minute was wrong, and is dropped. A smaller difference
// may come from another machine at the same address. It is kept, because a slot that is too low would prove the absence
// of a payment too early.
const farAheadSlots = 10_000
const contradictedMs = 60_000

/** Every call updates the state of the node, so health checks need few requests. */
export function createChainNode(deps: ChainNodeDeps): ChainNode {
  const { nowMs } = deps
  let slot = 0
  let farAheadSinceMs: number | undefined
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
      farAheadSinceMs = slot > absoluteSlot + farAheadSlots ? (farAheadSinceMs ?? nowMs()) : undefined
      const isWrong = farAheadSinceMs !== undefined && nowMs() - farAheadSinceMs > contradictedMs
      slot = isWrong ? absoluteSlot : Math.max(slot, absoluteSlot)
      return status
    },
  }
}
