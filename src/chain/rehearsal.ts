import { VersionedTransaction } from '@solana/web3.js'
import { assertNever } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { SignedTransaction, Simulation } from '../payment/proof.ts'
import type { ChainNode } from './chainNode.ts'
import { callNode, refusalIsFault, type RotationDeps } from './rpcClient.ts'
import { readSimulation, simulationJson, type RehearsalOutcome } from './simulation.ts'

export interface Rehearsal extends Pick<SignedTransaction, 'bytes'> {
  /** Present when a signer has yet to sign. */
  readonly withoutSignatures?: true
}

/**
 * Rehearses the transaction on one node after another, until one says that it would succeed or that it has landed. A
 * node that does not know the blockhash, or in whose state it would fail, is not believed before the others were asked.
 */
export async function rehearse(deps: RotationDeps, transaction: Rehearsal): Promise<Simulation> {
  const failures: Simulation[] = []
  let lastError: unknown
  for (const node of deps.nodes.candidates()) {
    try {
      const simulation = await rehearseOn(deps, node, transaction)
      if (simulation.outcome === 'would_succeed' || simulation.outcome === 'already_landed') return simulation
      failures.push(simulation)
    } catch (error) {
      lastError = error
    }
  }
  const failed = failures.find(({ outcome }) => outcome === 'would_fail') ?? failures[0]
  if (failed !== undefined) return failed
  throw new Fault('no Solana node answered simulateTransaction usably', { cause: lastError, retryable: true })
}

async function rehearseOn(deps: RotationDeps, node: ChainNode, transaction: Rehearsal): Promise<Simulation> {
  const encoded = Buffer.from(transaction.bytes).toString('base64')
  const options = {
    encoding: 'base64',
    // The newest state that lasts, whichever commitment payments are accepted at: a fresh blockhash is not final yet.
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
      // A node that is behind may not have seen how the wallet came to its tokens.
      return slot < nodes.newestSlot() ? { outcome: 'unknown' } : { ...rehearsed, slot }
    case 'blockhash_unknown':
      return { outcome: 'unknown' }
    case 'already_landed':
      return rehearsed
    default:
      return assertNever(rehearsed)
  }
}
