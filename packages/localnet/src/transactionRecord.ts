import { deserialize, serialize } from 'node:v8'
import { type LoadedAddresses, type ResolvedTransaction, resolveTransaction } from './accountKeys.ts'
import { parseChainTransaction } from './chainTransaction.ts'
import type { ExecutionOutcome } from './executionOutcome.ts'
import type { Balances } from './tokenBalances.ts'

interface LandedEffects {
  readonly slot: number
  readonly blockTimeSeconds: number
  readonly outcome: ExecutionOutcome
  readonly feeLamports: bigint
  readonly before: Balances
  readonly after: Balances
}

export interface TransactionRecord extends LandedEffects {
  readonly transaction: ResolvedTransaction
}

/** Includes the loaded addresses, because lookup tables may change. */
interface StoredRecord extends LandedEffects {
  readonly wire: Uint8Array
  readonly loaded: LoadedAddresses
}

export function encodeRecord({ transaction, ...effects }: TransactionRecord): Uint8Array {
  const { wire, loaded } = transaction
  return serialize({ ...effects, wire, loaded } satisfies StoredRecord)
}

export function decodeRecord(bytes: Uint8Array): TransactionRecord {
  const { wire, loaded, ...effects }: StoredRecord = deserialize(bytes)
  return { ...effects, transaction: resolveTransaction(parseChainTransaction(wire), loaded) }
}
