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

/** Stored form of a record. It includes the loaded addresses, because lookup tables may change. */
interface StoredRecord extends LandedEffects {
  readonly wire: Uint8Array
  readonly loaded: LoadedAddresses
}

/** Encodes a record for storage. Each read decodes it again. */
export function encodeRecord({ transaction, ...effects }: TransactionRecord): Uint8Array {
  const { wire, loaded } = transaction
  return serialize({ ...effects, wire, loaded } satisfies StoredRecord)
}

/** Decodes a record that `encodeRecord` created. */
export function decodeRecord(bytes: Uint8Array): TransactionRecord {
  const { wire, loaded, ...effects }: StoredRecord = deserialize(bytes)
  return { ...effects, transaction: resolveTransaction(parseChainTransaction(wire), loaded) }
}
