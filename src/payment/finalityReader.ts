import type { Address } from '@tollbook/core/address'
import type { SignedTransaction } from './proof.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from './transactionRecord.ts'

/** Chain queries after a payment has been accepted. Faults as in `chainReader.ts`: silence is never an answer. */
export interface FinalityReader {
  /** At most `statusesMax` at once. Undefined where no node in rotation knows it. */
  findStatuses(question: StatusQuestion): Promise<StatusAnswer>
  finalizedSlot(): Promise<number>
  /** Undefined unless the nodes agree that the finalized chain does not have the payment and that it cannot land. */
  findReversal(question: ReversalQuestion): Promise<Reversal | undefined>
  /** Undefined when the finalized chain does not have it. */
  findFinalized(signature: Signature): Promise<TransactionRecord | undefined>
  /** Those that name the account, newest first. */
  listSignatures(question: ListQuestion): Promise<readonly ListedSignature[]>
}

/** A node's limits. */
export const statusesMax = 256
export const listedMax = 1_000

/** A served payment that the chain may have dropped, or whose transaction may have failed or paid something else. */
export interface ReversalQuestion {
  readonly signature: Signature
  /** Slot in which it was seen before it was served. */
  readonly slot: number
  /** Undefined where the record has no bytes. */
  readonly transaction: SignedTransaction | undefined
  /** Whether the transaction, as it landed on the finalized chain, pays what is recorded. */
  readonly isPaidBy: (record: TransactionRecord) => boolean
}

/** The finding of at least two nodes where two are configured. */
export interface Reversal {
  /** `failed`: it is on the finalized chain, and does not pay there. */
  readonly reason: 'absent' | 'failed'
  readonly finalizedSlot: number
  readonly nodes: number
}

/** At most `statusesMax` signatures. */
export interface StatusQuestion {
  readonly signatures: readonly Signature[]
  /** Without it a node answers from memory, which goes back two minutes; with it, it searches its disk. */
  readonly searchHistory: boolean
}

/** Statuses in the order of the signatures; undefined where no node has one. */
export interface StatusAnswer {
  readonly statuses: readonly (SignatureStatus | undefined)[]
}

export interface SignatureStatus {
  readonly slot: number
  readonly isFinalized: boolean
  readonly hasFailed: boolean
}

/** A page of transactions of an account, the newest first, older than `before` and newer than `until`. */
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
