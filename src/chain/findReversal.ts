import { z } from 'zod'
import type { Reversal, ReversalQuestion } from '../payment/finalityReader.ts'
import type { ChainNode } from './chainNode.ts'
import { callNode, type RotationDeps } from './rpcClient.ts'
import { readStatuses } from './signatureStatuses.ts'
import { readFrom } from './transactionLookup.ts'

// Slots to wait before a missing transaction counts as dropped: twice the 150 blocks of a blockhash, because slots can
// be skipped. If the blockhash is known, its validity is checked too.
const landingSlotsMax = 300

/** Undefined unless every node in rotation has the same finding. If several nodes are configured, two must agree. */
export async function findReversal(deps: RotationDeps, question: ReversalQuestion): Promise<Reversal | undefined> {
  const rotation = deps.nodes.inRotation()
  if (rotation.length < deps.nodes.agreeingMin) return undefined
  const findings: Reversal[] = []
  for (const node of rotation) {
    const finding = await readReversal(deps, node, question)
    if (finding === undefined) return undefined
    findings.push({ ...finding, nodes: rotation.length })
  }
  const [first] = findings
  return findings.every(({ reason }) => reason === first?.reason) ? first : undefined
}

/**
 * Undefined if the node does not show a reversal: the payment may still land, the node has pruned those blocks, or its
 * finalized chain has the payment as recorded.
 */
async function readReversal(
  deps: RotationDeps,
  node: ChainNode,
  { signature, slot, transaction, isPaidBy }: ReversalQuestion,
): Promise<Omit<Reversal, 'nodes'> | undefined> {
  const ask = <T>(method: string, params: readonly unknown[], result: z.ZodType<T>) =>
    callNode(deps, node, { method, params, result })
  const finalized = { commitment: 'finalized' }
  const record = await readFrom(deps, node, { signature, commitment: 'finalized' })
  if (record !== undefined)
    return record.failure === undefined && isPaidBy(record)
      ? undefined
      : { reason: 'failed', finalizedSlot: record.slot }
  const finalizedSlot = await ask('getSlot', [finalized], z.int())
  if (finalizedSlot < slot + landingSlotsMax) return undefined
  if ((await ask('getFirstAvailableBlock', [], z.int())) > slot) return undefined
  if (transaction !== undefined) {
    const valid = await ask('isBlockhashValid', [transaction.blockhash, finalized], z.object({ value: z.boolean() }))
    if (valid.value) return undefined
  }
  // Search last, so that the searched state is later than the payment.
  const { slot: searchedSlot, statuses } = await readStatuses(deps, node, {
    signatures: [signature],
    searchHistory: true,
  })
  return statuses[0] === undefined && searchedSlot >= finalizedSlot ? { reason: 'absent', finalizedSlot } : undefined
}
