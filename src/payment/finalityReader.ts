import type { Address } from '@tollbook/core/address'
import type { SignedTransaction } from './proof.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from './transactionRecord.ts'

/** Every method throws a retryable `Fault` if no node can answer, because a missing answer is not a result. */
export interface FinalityReader {
  /**
   * Reads the statuses of at most `statusesMax` signatures. A status is undefined if no node that answered has the
   * signature.
   */
  findStatuses(question: StatusQuestion): Promise<StatusAnswer>
  finalizedSlot(): Promise<number>
  /**
   * Finds out whether the chain dropped a payment. Undefined unless the nodes agree that the payment is not on the
   * finalized chain, or that it does not pay.
   */
  findReversal(question: ReversalQuestion): Promise<Reversal | undefined>
  findFinalized(signature: Signature): Promise<TransactionRecord | undefined>
  listSignatures(question: ListQuestion): Promise<readonly ListedSignature[]>
}

/** Solana nodes return at most 256 statuses for one request. */
export const statusesMax = 256
export const listedMax = 1_000

export interface ReversalQuestion {
  readonly signature: Signature
  readonly slot: number
  readonly transaction: SignedTransaction | undefined
  readonly isPaidBy: (record: TransactionRecord) => boolean
}

export interface Reversal {
  /** `absent`: the transaction is not on the finalized chain. `failed`: it is on the finalized chain and does not pay. */
  readonly reason: 'absent' | 'failed'
  readonly finalizedSlot: number
  readonly nodes: number
}

export interface StatusQuestion {
  readonly signatures: readonly Signature[]
  /** False searches the node's memory, which covers about two minutes. True also searches its disk. */
  readonly searchHistory: boolean
}

export interface StatusAnswer {
  readonly statuses: readonly (SignatureStatus | undefined)[]
}

export interface SignatureStatus {
  readonly slot: number
  readonly isFinalized: boolean
  readonly hasFailed: boolean
}

/** The signatures are listed newest first, older than `before` and newer than `until`. */
export interface ListQuestion {
  readonly account: Address
  readonly commitment: 'confirmed' | 'finalized'
  readonly before: Signature | undefined
  readonly until: Signature | undefined
}

export interface ListedSignature {
  readonly signature: Signature
  readonly slot: number
  readonly blockTimeMs: number | undefined
  readonly hasFailed: boolean
  readonly memo: string | undefined
}
