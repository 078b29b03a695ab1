import type { Address } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import type { Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { SponsoredTransaction } from '../../payment/sponsoredTransaction.ts'

/**
 * The signer of the network fees, a separate process. Its signature is the id of a payment. Every method throws a
 * retryable fault when the signer does not answer.
 */
export interface FeePayer {
  standing(): Promise<FeePayerStanding>
  /** The signature that it has given to this message before. It costs nothing. Asked before a rehearsal. */
  find(transaction: Pick<SponsoredTransaction, 'digest' | 'payer'>): Promise<SigningStanding>
  /**
   * Signs, within its budgets and as far as the rehearsed balance covers this payment and all unsettled ones of the
   * wallet. A refusal says that it has not signed.
   */
  sign(transaction: SponsoredTransaction, balance: RehearsedBalance): Promise<Signature | Refusal>
  /** A payment that failed on chain no longer counts as unsettled; one that never lands does not count as failed. */
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
}

export interface SigningStanding {
  readonly signature: Signature | undefined
  /** Time of the signer's journal. A rehearsal that begins later shows what was settled by then. */
  readonly asOf: string
}

/** Base units in the token account that pays, by a rehearsal that began after `asOf`. */
export interface RehearsedBalance {
  readonly heldBaseUnits: bigint
  readonly asOf: string
}

/** Whether the signer process signs now. */
export interface FeePayerStanding {
  readonly address: Address
  /** Undefined while it signs; otherwise the reason why it does not, such as a budget that is used up. */
  readonly whyClosed: string | undefined
}

/** The address of the fee payer, undefined while it does not sign: what a client would send could not be settled. */
export async function openFeePayer(feePayer: FeePayer): Promise<Address | undefined> {
  try {
    const { address, whyClosed } = await feePayer.standing()
    return whyClosed === undefined ? address : undefined
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
