import type { VersionedMessage } from '@solana/web3.js'
import { z } from 'zod'
import { encodeBase58 } from '../primitives/base58.ts'
import type { Simulation } from '../payment/proof.ts'
import { failureOf } from './transactionFailure.ts'
import {
  innerInstructionsJson,
  type InstructionJson,
  loadedAddressesJson,
  tokenBalanceJson,
} from './transactionJson.ts'
import { parseEffects } from './transferParser.ts'

/** The answer of `simulateTransaction`. Balances and loaded addresses are told by newer nodes only. */
export const simulationJson = z.object({
  value: z.object({
    err: z.unknown(),
    innerInstructions: z.array(innerInstructionsJson).nullish(),
    preTokenBalances: z.array(tokenBalanceJson).nullish(),
    postTokenBalances: z.array(tokenBalanceJson).nullish(),
    loadedAddresses: loadedAddressesJson.nullish(),
  }),
})

export function readSimulation(value: z.infer<typeof simulationJson>['value'], message: VersionedMessage): Simulation {
  if (value.err === 'BlockhashNotFound') return { outcome: 'blockhash_expired' }
  if (value.err === 'AlreadyProcessed') return { outcome: 'already_landed' }

  const instructions = message.compiledInstructions.map(
    ({ programIdIndex, accountKeyIndexes, data }): InstructionJson => {
      return { programIdIndex, accounts: accountKeyIndexes, data: encodeBase58(data) }
    },
  )
  const staticKeys = message.staticAccountKeys.map((key) => key.toBase58())
  const keys = [...staticKeys, ...(value.loadedAddresses?.writable ?? []), ...(value.loadedAddresses?.readonly ?? [])]
  const failure = failureOf(value.err, { keys, instructions })
  if (failure !== undefined) return { outcome: 'would_fail', ...failure }
  const effects = parseEffects({
    accountKeys: keys,
    instructions,
    innerInstructions: value.innerInstructions ?? [],
    preTokenBalances: value.preTokenBalances ?? undefined,
    postTokenBalances: value.postTokenBalances ?? undefined,
  })
  return { outcome: 'would_succeed', effects }
}
