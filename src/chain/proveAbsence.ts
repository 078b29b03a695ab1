import { z } from 'zod'
import type { Signature } from '@tollbook/core/signature'
import {
  type AbsenceReading,
  type HeightReading,
  historyBlocksMin,
  type LandingBound,
  ProvenAbsent,
  ProvenExpired,
} from '../payment/absence.ts'
import { type ChainNode, epochInfoJson } from './chainNode.ts'
import { callNode, type RotationDeps } from './rpcClient.ts'
import { readStatuses } from './signatureStatuses.ts'

export interface AbsenceQuestion {
  readonly signature: Signature
  readonly bound: LandingBound
}

/**
 * Undefined while the transaction may still land or may have landed, too few nodes are in rotation, or a node in
 * rotation does not answer.
 */
export async function proveAbsence(
  deps: RotationDeps,
  { signature, bound }: AbsenceQuestion,
): Promise<ProvenAbsent | undefined> {
  const readings = await readEach(deps, bound, (node) => readAbsence(deps, node, { signature, bound }))
  return readings === undefined ? undefined : ProvenAbsent.prove({ signature, bound, readings })
}

/**
 * Undefined while a block may still take the transaction, too few nodes are in rotation, or a node in rotation does not
 * answer.
 */
export async function proveExpiry(deps: RotationDeps, bound: LandingBound): Promise<ProvenExpired | undefined> {
  const readings = await readEach(deps, bound, async (node): Promise<HeightReading> => {
    return { node: node.name, finalizedHeight: (await readFinalized(deps, node)).blockHeight }
  })
  return readings === undefined ? undefined : ProvenExpired.prove({ bound, readings })
}

/** Undefined if too few nodes are in rotation, if it is too early, or if a node does not answer. */
async function readEach<R>(
  deps: RotationDeps,
  bound: LandingBound,
  read: (node: ChainNode) => Promise<R>,
): Promise<readonly R[] | undefined> {
  const rotation = deps.nodes.inRotation()
  // Require enough nodes, because a single remaining node may lack a payment that the other node has.
  if (rotation.length < deps.nodes.agreeingMin) return undefined
  // Skip the queries while the confirmed height is within the bound, because the finalized height is never ahead of it.
  if (deps.nodes.height() <= bound.lastValidHeight) return undefined
  try {
    return await Promise.all(rotation.map(read))
  } catch {
    // Ignore the failure, which is in the log. A missing answer proves nothing.
    return undefined
  }
}

function readFinalized(deps: RotationDeps, node: ChainNode) {
  const params = [{ commitment: 'finalized' }]
  return callNode(deps, node, { method: 'getEpochInfo', params, result: epochInfoJson })
}

async function readAbsence(
  deps: RotationDeps,
  node: ChainNode,
  { signature, bound }: AbsenceQuestion,
): Promise<AbsenceReading> {
  const finalized = await readFinalized(deps, node)
  const passedBlocks = finalized.blockHeight - bound.lastValidHeight
  if (passedBlocks >= historyBlocksMin) await requireHistory(deps, node, finalized.absoluteSlot - 2 * passedBlocks)
  // Search after reading the height, so that the search covers every block up to it.
  const { slot, statuses } = await readStatuses(deps, node, { signatures: [signature], searchHistory: true })
  return {
    node: node.name,
    finalizedSlot: finalized.absoluteSlot,
    finalizedHeight: finalized.blockHeight,
    searchedSlot: slot,
    isFound: statuses[0] !== undefined,
  }
}

/**
 * Throws if the node has pruned blocks that could contain the transaction, because it may then have landed there. The
 * caller counts two slots for each block, because slots can be skipped.
 */
async function requireHistory(deps: RotationDeps, node: ChainNode, slot: number): Promise<void> {
  const result = z
    .int()
    .refine((first) => first <= Math.max(1, slot), `is above ${slot}, so the node has pruned blocks`)
  await callNode(deps, node, { method: 'getFirstAvailableBlock', params: [], result })
}
