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

/** A landed transaction with all the data that a node reports about it. */
export interface TransactionRecord extends LandedEffects {
  readonly transaction: ResolvedTransaction
}

/** The wire form contains everything except the loaded addresses, whose tables may have changed since. */
interface StoredRecord extends LandedEffects {
  readonly wire: Uint8Array
  readonly loaded: LoadedAddresses
}

/** Encodes a record for memory and disk. Each read decodes it. */
export function encodeRecord({ transaction, ...effects }: TransactionRecord): Uint8Array {
  const { wire, loaded } = transaction
  return serialize({ ...effects, wire, loaded } satisfies StoredRecord)
}

/** The inverse of `encodeRecord`. */
export function decodeRecord(bytes: Uint8Array): TransactionRecord {
  const { wire, loaded, ...effects }: StoredRecord = deserialize(bytes)
  return { ...effects, transaction: resolveTransaction(parseChainTransaction(wire), loaded) }
}
