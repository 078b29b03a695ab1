import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { LamportLimits } from './signingRules.ts'

/** One signature of the fee payer. */
export interface Signing {
  /** SHA-256 in hex of the message. */
  readonly digest: string
  readonly signature: Signature
  readonly wallet: Address
  readonly amountBaseUnits: bigint
  /** The most that the transaction can cost the fee payer. */
  readonly lamports: number
}

/** A message, and the wallet that pays by it. */
export type SigningQuestion = Pick<Signing, 'digest' | 'wallet'>

/** Facts about a message before it is rehearsed. */
export interface SigningStanding {
  /** Undefined: the message was never signed. */
  readonly signature: Signature | undefined
  /** Time of the journal. A rehearsal that begins later shows every payment of the wallet that was settled by then. */
  readonly asOf: string
}

/** Result of a rehearsal that began after `asOf`. */
export interface RehearsedBalance {
  /** Base units in the token account that pays. */
  readonly heldBaseUnits: bigint
  readonly asOf: string
}

/**
 * Signatures of the fee payer in the database, with their budgets: they survive the machine of the signer, and two
 * signers with one key share them. Every method throws a retryable fault while the database does not answer.
 */
export interface SigningJournal {
  find(question: SigningQuestion): Promise<SigningStanding>
  /** Undefined once the signature is durable. It leaves the process only then. The name of a rule: nothing was recorded. */
  record(signing: Signing, balance: RehearsedBalance, limits: LamportLimits): Promise<string | undefined>
  /** The transaction failed on chain, or provably never lands. */
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
  /** Lamports of the current UTC day. */
  spentToday(): Promise<number>
}
