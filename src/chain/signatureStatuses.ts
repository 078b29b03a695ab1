import { z } from 'zod'
import type { Signature } from '@tollbook/core/signature'
import type { ChainNode } from './chainNode.ts'
import { callNode, type RotationDeps } from './rpcClient.ts'

/** Statuses of some signatures, in one node's state of one slot. */
export interface NodeStatuses {
  readonly node: ChainNode
  readonly slot: number
  readonly statuses: readonly (NodeStatus | undefined)[]
}

/** Statement of one node about one signature. A failed transaction has a status, too. */
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
  /** Without it a node answers from memory, which goes back two minutes; with it, it searches its disk. */
  readonly searchHistory: boolean
}

/**
 * One status for each signature, in their order; undefined where the
 * node has none. Throws when the node does not answer.
 */
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
    // Old nodes name no commitment for what is rooted; to take it for young only costs another question.
    return { slot, commitment: confirmationStatus ?? 'processed', hasFailed: err !== null && err !== undefined }
  })
  return { node, slot: context.slot, statuses }
}
