import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { RehearsedBalance, SigningStanding } from '../payment/sponsoredTransaction.ts'
import type { LamportLimits } from './signingRules.ts'

/** One signature of the fee payer. */
export interface Signing {
  /** SHA-256 in hex of the message. */
  readonly digest: string
  readonly signature: Signature
  readonly wallet: Address
  /** Mint of a payment in dollars. Undefined for the service token. */
  readonly dollar: Address | undefined
  readonly amountBaseUnits: bigint
  /** The highest amount that the transaction can cost the fee payer. */
  readonly lamports: bigint
}

/** A message and the wallet that pays with it. */
export type SigningQuestion = Pick<Signing, 'digest' | 'wallet'>

/**
 * Signatures of the fee payer and their budgets, in the database: they outlive the signer's machine, and several
 * signers with one key share them. Every method throws a retryable fault if the database does not answer.
 */
export interface SigningJournal {
  find(question: SigningQuestion): Promise<SigningStanding>
  /**
   * Records a signature, which leaves the process only afterwards. Returns undefined if it was recorded, or the name of
   * the rule that forbids it.
   */
  record(signing: Signing, balance: RehearsedBalance, limits: LamportLimits): Promise<string | undefined>
  /** Records that the transaction failed on chain or provably never lands. */
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
  /** Lamports of the current UTC day. */
  spentToday(): Promise<bigint>
}
