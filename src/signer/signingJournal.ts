import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { RehearsedBalance, SigningStanding } from '../payment/sponsoredTransaction.ts'
import type { LamportLimits } from './signingRules.ts'

export interface Signing {
  /** SHA-256 of the message, in hex. */
  readonly digest: string
  readonly signature: Signature
  readonly wallet: Address
  /** Mint of the dollar that is paid. Undefined for a payment in the service token. */
  readonly dollar: Address | undefined
  readonly amountBaseUnits: bigint
  /** The transaction can cost the fee payer at most this much. */
  readonly lamports: bigint
}

export type SigningQuestion = Pick<Signing, 'digest' | 'wallet'>

/**
 * The journal is in the database, so that it survives the loss of the signer's machine and several signers with one key
 * share it. Every method throws a retryable fault if the database does not answer.
 */
export interface SigningJournal {
  find(question: SigningQuestion): Promise<SigningStanding>
  /**
   * The signature must leave the process only after this call. Returns undefined if it was recorded, or the name of the
   * rule that forbids it.
   */
  record(signing: Signing, balance: RehearsedBalance, limits: LamportLimits): Promise<string | undefined>
  /** `failed`: the transaction failed on chain. `absent`: it can never land. */
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
  /** Counts the current UTC day. */
  spentToday(): Promise<bigint>
}
