import type { VersionedMessage } from '@solana/web3.js'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import type { SimulatedEffects } from '../payment/proof.ts'
import { instructionsOf } from './plainEffects.ts'
import { readShown, shownInstructionJson } from './shownInstruction.ts'
import { failureOf } from './transactionFailure.ts'
import { hasAllLoaded, type InstructionJson, loadedAddressesJson, tokenBalanceJson } from './transactionJson.ts'
import { callsOf, parseEffects } from './transferParser.ts'

/** Only newer nodes report balances and loaded addresses. */
export const simulationJson = z.object({
  context: z.object({ slot: z.int().min(0) }),
  value: z.object({
    err: z.unknown(),
    innerInstructions: z.array(z.object({ instructions: z.array(shownInstructionJson) })).nullish(),
    preTokenBalances: z.array(tokenBalanceJson).nullish(),
    postTokenBalances: z.array(tokenBalanceJson).nullish(),
    loadedAddresses: loadedAddressesJson.nullish(),
  }),
})
type SimulationJson = z.infer<typeof simulationJson>['value']

/** Another node may have another state, and so another outcome. */
export type RehearsalOutcome =
  | { readonly outcome: 'would_succeed'; readonly effects: SimulatedEffects }
  | { readonly outcome: 'would_fail'; readonly text: string; readonly insufficientFunds: boolean }
  | { readonly outcome: 'blockhash_unknown' }
  | { readonly outcome: 'already_landed' }

export function readSimulation(value: SimulationJson, message: VersionedMessage): RehearsalOutcome {
  if (value.err === 'BlockhashNotFound') return { outcome: 'blockhash_unknown' }
  if (value.err === 'AlreadyProcessed') return { outcome: 'already_landed' }

  const { loadedAddresses: loaded } = value
  const staticKeys = message.staticAccountKeys.map((key) => key.toBase58())
  const keys = [...staticKeys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])]
  const instructions = instructionsOf(message)
  const failure = failureOf(value.err, { keys, instructions })
  if (failure !== undefined) return { outcome: 'would_fail', ...failure }
  // Check the resolved addresses. The node resolves lookup tables, and the instructions cannot be read without these
  // addresses.
  if (!hasAllLoaded(message.addressTableLookups, loaded ?? undefined))
    throw unusable('the addresses of the lookup tables of the transaction')
  return { outcome: 'would_succeed', effects: effectsOf(value, keys, instructions) }
}

function effectsOf(
  { innerInstructions, preTokenBalances, postTokenBalances }: SimulationJson,
  accountKeys: readonly string[],
  instructions: readonly InstructionJson[],
): SimulatedEffects {
  // Inner instructions were requested, so an empty list means "none", and a missing list means that the node did not
  // answer.
  if (innerInstructions === null || innerInstructions === undefined) throw unusable('the called instructions')
  const inner = innerInstructions.flatMap((called) => called.instructions.map(readShown))
  return parseEffects({
    accountKeys,
    calls: [...callsOf(accountKeys, instructions), ...inner],
    preTokenBalances: preTokenBalances ?? undefined,
    postTokenBalances: postTokenBalances ?? undefined,
  })
}

function unusable(what: string): Fault {
  return new Fault(`the node omits ${what}`, { retryable: true })
}
