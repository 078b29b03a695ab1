import type { Address } from '@tollbook/core/address'
import type { SignedTransaction } from './proof.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from './transactionRecord.ts'

/**
 * Chain queries after a payment has been accepted. They throw like those of `chainReader.ts`, because a missing answer
 * is not a result.
 */
export interface FinalityReader {
  /** Returns at most `statusesMax` statuses. Undefined for a signature that no node in rotation has. */
  findStatuses(question: StatusQuestion): Promise<StatusAnswer>
  finalizedSlot(): Promise<number>
  /** Undefined unless the nodes agree that the finalized chain does not have the payment and that it cannot land. */
  findReversal(question: ReversalQuestion): Promise<Reversal | undefined>
  findFinalized(signature: Signature): Promise<TransactionRecord | undefined>
  listSignatures(question: ListQuestion): Promise<readonly ListedSignature[]>
}

/** The most that a node returns at once. */
export const statusesMax = 256
export const listedMax = 1_000

/** A served payment that the chain may have dropped, or whose transaction may have failed or paid something else. */
export interface ReversalQuestion {
  readonly signature: Signature
  readonly slot: number
  readonly transaction: SignedTransaction | undefined
  /** True if the transaction, as it landed on the finalized chain, pays the recorded amount. */
  readonly isPaidBy: (record: TransactionRecord) => boolean
}

/** A finding of two nodes, or of one if only one is configured. */
export interface Reversal {
  /** `failed`: the transaction is on the finalized chain and does not pay. */
  readonly reason: 'absent' | 'failed'
  readonly finalizedSlot: number
  readonly nodes: number
}

export interface StatusQuestion {
  readonly signatures: readonly Signature[]
  /** False searches the node's memory, which covers two minutes. True also searches its disk. */
  readonly searchHistory: boolean
}

/** In the order of the signatures. */
export interface StatusAnswer {
  readonly statuses: readonly (SignatureStatus | undefined)[]
}

export interface SignatureStatus {
  readonly slot: number
  readonly isFinalized: boolean
  readonly hasFailed: boolean
}

/** A page of transactions of an account, newest first, older than `before` and newer than `until`. */
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
