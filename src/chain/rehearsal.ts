import { VersionedTransaction } from '@solana/web3.js'
import { assertNever } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { SimulateOptions } from '../payment/chainReader.ts'
import type { SignedTransaction, Simulation } from '../payment/proof.ts'
import type { ChainNode } from './chainNode.ts'
import { callNode, refusalIsFault, type RotationDeps } from './rpcClient.ts'
import { readSimulation, simulationJson, type RehearsalOutcome } from './simulation.ts'

export interface Rehearsal extends Pick<SignedTransaction, 'bytes'>, SimulateOptions {}

/**
 * Rehearses a transaction. One node decides if it reports acceptable effects or that the transaction has landed. A
 * failure, or effects that are not acceptable, count only if as many nodes reject the transaction as must agree. An
 * unknown blockhash decides nothing.
 */
export async function rehearse(deps: RotationDeps, transaction: Rehearsal): Promise<Simulation> {
  const rejected: Simulation[] = []
  let isUnknown = false
  let lastError: unknown
  for (const node of deps.nodes.candidates()) {
    const simulation = await rehearseOn(deps, node, transaction).catch((error: unknown) => void (lastError = error))
    if (simulation === undefined) continue
    if (await isAccepted(transaction, simulation)) return simulation
    if (simulation.outcome === 'unknown') isUnknown = true
    else rejected.push(simulation)
  }
  const [first] = rejected
  if (first !== undefined && rejected.length >= deps.nodes.agreeingMin) return first
  if (first !== undefined || isUnknown) return { outcome: 'unknown' }
  throw new Fault('no Solana node answered simulateTransaction usably', { cause: lastError, retryable: true })
}

function isAccepted({ accepts }: SimulateOptions, simulation: Simulation): boolean | Promise<boolean> {
  if (simulation.outcome === 'would_succeed') return accepts?.(simulation.effects) ?? true
  return simulation.outcome === 'already_landed'
}

async function rehearseOn(deps: RotationDeps, node: ChainNode, transaction: Rehearsal): Promise<Simulation> {
  const encoded = Buffer.from(transaction.bytes).toString('base64')
  const options = {
    encoding: 'base64',
    // Use `confirmed` even if payments require `finalized`, because a fresh blockhash is not final yet.
    commitment: 'confirmed',
    sigVerify: transaction.withoutSignatures !== true,
    replaceRecentBlockhash: false,
    innerInstructions: true,
  }
  const { message } = VersionedTransaction.deserialize(transaction.bytes)
  const result = simulationJson.transform(({ context, value }) => ({
    slot: context.slot,
    rehearsed: readSimulation(value, message),
  }))
  const { slot, rehearsed } = await refusalIsFault(
    callNode(deps, node, { method: 'simulateTransaction', params: [encoded, options], result }),
  )
  return inState(deps, rehearsed, slot)
}

function inState({ nodes }: RotationDeps, rehearsed: RehearsalOutcome, slot: number): Simulation {
  switch (rehearsed.outcome) {
    case 'would_succeed':
      return { ...rehearsed, bound: nodes.boundAt(slot) }
    case 'would_fail':
      // Do not trust a failure on a node that lags, because it may not have seen the wallet receive its tokens.
      return slot < nodes.newestSlot() ? { outcome: 'unknown' } : { ...rehearsed, slot }
    case 'blockhash_unknown':
      return { outcome: 'unknown' }
    case 'already_landed':
      return rehearsed
    default:
      return assertNever(rehearsed)
  }
}
