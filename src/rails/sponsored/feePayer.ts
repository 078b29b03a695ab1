import type { Address } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import type { Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { RehearsedBalance, SigningStanding, SponsoredTransaction } from '../../payment/sponsoredTransaction.ts'

/**
 * The signer of the network fees, a separate process. Its signature is the id of a payment. Every method throws a
 * retryable fault if the signer does not answer.
 */
export interface FeePayer {
  standing(): Promise<FeePayerStanding>
  /**
   * Returns the signature that the signer has already made for this message. It costs nothing and is called before a
   * rehearsal.
   */
  find(transaction: Pick<SponsoredTransaction, 'digest' | 'payer'>): Promise<SigningStanding>
  /**
   * Signs within the budgets, if the rehearsed balance covers this payment and all unsettled ones of the wallet. A
   * refusal states that it has not signed.
   */
  sign(transaction: SponsoredTransaction, balance: RehearsedBalance): Promise<Signature | Refusal>
  /**
   * Records the outcome of a payment. One that failed on chain no longer counts as unsettled. One that never lands does
   * not count as failed.
   */
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
}

/** States whether the signer process signs now. */
export interface FeePayerStanding {
  readonly address: Address
  /** Undefined while it signs. Otherwise the reason why not, such as a used-up budget. */
  readonly whyClosed: string | undefined
}

/**
 * Returns the address of the fee payer. Undefined while it does not sign, because a client's payment could not be
 * settled.
 */
export async function openFeePayer(feePayer: FeePayer): Promise<Address | undefined> {
  try {
    const { address, whyClosed } = await feePayer.standing()
    return whyClosed === undefined ? address : undefined
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
