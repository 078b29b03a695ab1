import type { Address } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import type { Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { RehearsedBalance, SigningStanding, SponsoredTransaction } from '../../payment/sponsoredTransaction.ts'

/**
 * The signer in a separate process. Its signature is the id of the transaction. Each method throws a retryable fault if
 * the process does not answer.
 */
export interface FeePayer {
  standing(): Promise<FeePayerStanding>
  /** Returns the signature, if any, that the signer has already created for this message. The call uses no budget. */
  find(transaction: Pick<SponsoredTransaction, 'digest' | 'payer'>): Promise<SigningStanding>
  /**
   * Signs within the rules and budgets of the signer. The rehearsed balance must cover this payment and all payments of
   * the wallet in the same mint that the rehearsal may not show. A refusal means that the signer has not signed.
   */
  sign(transaction: SponsoredTransaction, balance: RehearsedBalance): Promise<Signature | Refusal>
  /**
   * Reports that a payment failed on chain or never landed, so that it no longer counts as unsettled. An absent payment
   * does not count as failed.
   */
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
}

export interface FeePayerStanding {
  readonly address: Address
  /** Reason why the fee payer does not sign, such as a used-up budget. Undefined if it signs. */
  readonly whyClosed: string | undefined
}

/** Undefined while the fee payer does not sign, because the service could not settle a client's payment then. */
export async function openFeePayer(feePayer: FeePayer): Promise<Address | undefined> {
  try {
    const { address, whyClosed } = await feePayer.standing()
    return whyClosed === undefined ? address : undefined
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
