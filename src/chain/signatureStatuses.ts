import { z } from 'zod'
import type { Signature } from '@tollbook/core/signature'
import type { ChainNode } from './chainNode.ts'
import { callNode, type RotationDeps } from './rpcClient.ts'

/** All statuses are from one slot. */
export interface NodeStatuses {
  readonly node: ChainNode
  readonly slot: number
  readonly statuses: readonly (NodeStatus | undefined)[]
}

/** A failed transaction also has a status. */
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

/** The RPC accepts at most 256 signatures per call (`statusesMax`). */
export interface StatusQuery {
  readonly signatures: readonly Signature[]
  /** True: the node also searches its disk. False: the node answers from memory, which covers two minutes. */
  readonly searchHistory: boolean
}

/** Keeps the order of the signatures. Undefined for a signature without a status. Throws if the node does not answer. */
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
    // Treat a missing commitment as `processed`. Old nodes omit it for rooted transactions, so the only cost is another
    // query.
    return { slot, commitment: confirmationStatus ?? 'processed', hasFailed: err !== null && err !== undefined }
  })
  return { node, slot: context.slot, statuses }
}
