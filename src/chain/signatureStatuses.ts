import { z } from 'zod'
import type { Signature } from '@tollbook/core/signature'
import type { ChainNode } from './chainNode.ts'
import { callNode, type RotationDeps } from './rpcClient.ts'

/** Statuses of some signatures on one node, at one slot. */
export interface NodeStatuses {
  readonly node: ChainNode
  readonly slot: number
  readonly statuses: readonly (NodeStatus | undefined)[]
}

/** Report of one node about one signature. A failed transaction also has a status. */
export interface NodeStatus {
  readonly slot: number
  readonly commitment: 'processed' | 'confirmed' | 'finalized'
  readonly hasFailed: boolean
}

const statusJson = z.object({
  slot: z.int(),
  err: z.unknown(),
  confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
})
const statusesJson = z.object({ context: z.object({ slot: z.int() }), value: z.array(statusJson.nullable()) })

/** The RPC takes at most 256 signatures a call (`statusesMax`). */
export interface StatusQuery {
  readonly signatures: readonly Signature[]
  /** Searches the node's disk. Without it, the node answers from memory, which covers two minutes. */
  readonly searchHistory: boolean
}

/** One status for each signature, in their order. Undefined where the node has none. Throws if the node does not answer. */
export async function readStatuses(
  deps: RotationDeps,
  node: ChainNode,
  { signatures, searchHistory }: StatusQuery,
): Promise<NodeStatuses> {
  const result = statusesJson.refine(({ value }) => value.length === signatures.length, 'must answer each signature')
  const params = [signatures, { searchTransactionHistory: searchHistory }]
  const { context, value } = await callNode(deps, node, { method: 'getSignatureStatuses', params, result })
  const statuses = value.map((status) => {
    if (status === null) return undefined
    const { slot, err, confirmationStatus } = status
    // Old nodes name no commitment for rooted transactions. Taking these for young only costs another query.
    return { slot, commitment: confirmationStatus ?? 'processed', hasFailed: err !== null && err !== undefined }
  })
  return { node, slot: context.slot, statuses }
}
