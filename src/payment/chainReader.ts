import type { Address } from '@tollbook/core/address'
import type { SignedTransaction, Simulation } from './proof.ts'
import type { Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from './transactionRecord.ts'

/**
 * Chain operations of the paywall. Every method except `readTransaction` queries a node and throws a retryable `Fault`
 * if
 * the node cannot answer: silence is never an answer.
 */
export interface ChainReader {
  /** One call. Undefined when the chain does not have it at the configured commitment, for now. */
  findTransaction(signature: Signature): Promise<TransactionRecord | undefined>
  /** All of the wallet's token accounts of the service token together. */
  balanceBaseUnits(wallet: Address): Promise<bigint>
  /** Decodes and checks every signature; no network. */
  readTransaction(bytes: Uint8Array): SignedTransaction | Refusal
  simulate(transaction: SignedTransaction): Promise<Simulation>
  /** Sends exactly these bytes. Sending them again is harmless: the chain takes a signature once. */
  broadcast(transaction: SignedTransaction): Promise<void>
  /** False once its blockhash is too old for it ever to land. */
  canStillLand(transaction: SignedTransaction): Promise<boolean>
  /** The newest slot at the configured commitment. */
  slot(): Promise<number>
}
