import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { RehearsedBalance, SigningStanding } from '../payment/sponsoredTransaction.ts'
import type { LamportLimits } from './signingRules.ts'

/** One signature by the fee payer. */
export interface Signing {
  /** SHA-256 of the message, in hex. */
  readonly digest: string
  readonly signature: Signature
  readonly wallet: Address
  /** Mint of the dollar that is paid. Undefined for a payment in the service token. */
  readonly dollar: Address | undefined
  readonly amountBaseUnits: bigint
  /** Maximum lamports that the transaction can cost the fee payer. */
  readonly lamports: bigint
}

/** Digest of a message, and the wallet that pays with it. */
export type SigningQuestion = Pick<Signing, 'digest' | 'wallet'>

/**
 * Signatures of the fee payer and their budgets. They are in the database, so that they survive the loss of the
 * signer's machine and several signers with one key share them. Every method throws a retryable fault if the database
 * does not answer.
 */
export interface SigningJournal {
  find(question: SigningQuestion): Promise<SigningStanding>
  /**
   * Records a signature. The signature must leave the process only after that. Returns undefined if it was recorded, or
   * the name of the rule that forbids it.
   */
  record(signing: Signing, balance: RehearsedBalance, limits: LamportLimits): Promise<string | undefined>
  /** Records that the transaction failed on chain, or can certainly never be confirmed. */
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
  /** Returns the lamports that were spent on the current UTC day. */
  spentToday(): Promise<bigint>
}
