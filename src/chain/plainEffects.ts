import type { VersionedMessage } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import { computeBudgetProgram, memoPrograms, tokenPrograms } from '@tollbook/core/programs'
import type { SimulatedEffects } from '../payment/proof.ts'
import { decodeTransaction } from './transactionBytes.ts'
import type { InstructionJson } from './transactionJson.ts'
import { type Call, callsOf, parseEffects } from './transferParser.ts'

/** Returns the shape of the RPC's `json` encoding, with account indexes and data in base58. */
export function instructionsOf({ compiledInstructions }: VersionedMessage): readonly InstructionJson[] {
  return compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => {
    return { programIdIndex, accounts: accountKeyIndexes, data: encodeBase58(data) }
  })
}

/**
 * Undefined for malformed bytes, and for a transaction with a lookup table. Also undefined for an instruction other
 * than checked burns and transfers at top level, memos and a compute budget. The bytes alone then do not show the
 * effects, so the transaction needs a rehearsal.
 */
export function readPlainEffects(bytes: Uint8Array): SimulatedEffects | undefined {
  const message = decodeTransaction(bytes)?.message
  if (message === undefined || message.addressTableLookups.length > 0) return undefined
  const accountKeys = message.staticAccountKeys.map((key) => key.toBase58())
  const instructions = instructionsOf(message)
  const indexes = instructions.flatMap(({ programIdIndex, accounts }) => [programIdIndex, ...accounts])
  if (indexes.some((index) => index >= accountKeys.length)) return undefined
  const calls = callsOf(accountKeys, instructions)
  if (!calls.every(isPlain)) return undefined
  return parseEffects({ accountKeys, calls, preTokenBalances: undefined, postTokenBalances: undefined })
}

function isPlain({ program, effects }: Call): boolean {
  if (program === computeBudgetProgram || memoPrograms.has(program)) return true
  const moves = effects.every((effect) => isMovement(effect.kind) && effect.mint !== undefined)
  return tokenPrograms.has(program) && effects.length > 0 && moves
}

function isMovement(kind: Call['effects'][number]['kind']): boolean {
  return kind === 'burn' || kind === 'transfer'
}
