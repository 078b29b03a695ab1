import type { Address } from '@tollbook/core/address'
import type { LandingBound } from './absence.ts'
import type { PaymentReference, PresentedReference } from './paymentReference.ts'

/**
 * First presentations of proofs that the service could not decide at once. They are not part of the ledger, because the
 * table is bounded and its rows expire. If a row is lost, the next presentation counts as the first. This can only
 * cause a refusal for age.
 */
export interface Presentations {
  /** Records the presentation unless the wallet has presented this payment before. Returns the first presentation. */
  record(presented: Presentation): Promise<Presentation>
  find(question: Pick<Presentation, 'reference' | 'wallet'>): Promise<Presentation | undefined>
  /** Returns the payments that any wallet has presented. */
  findPresented(references: readonly PaymentReference[]): Promise<ReadonlySet<PaymentReference>>
}

/** First presentation of a proof by a wallet. Age limits count from this time, not from the retry. */
export interface Presentation {
  readonly reference: PresentedReference
  readonly wallet: Address
  /** Time of the chain (see `ChainReader.timeMs`). */
  readonly presentedAtMs: number
  readonly bound: LandingBound
}
