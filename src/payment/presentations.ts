import type { Address } from '@tollbook/core/address'
import type { LandingBound } from './absence.ts'
import type { PaymentReference, PresentedReference } from './paymentReference.ts'

/**
 * Presentations are not part of the ledger, because the table is bounded and its rows expire. If a row is lost, the
 * next presentation counts as the first, which can only cause a refusal for age.
 */
export interface Presentations {
  /** Records a presentation, and returns the first one. A later one by the same wallet is not recorded. */
  record(presented: Presentation): Promise<Presentation>
  find(question: Pick<Presentation, 'reference' | 'wallet'>): Promise<Presentation | undefined>
  findPresented(references: readonly PaymentReference[]): Promise<ReadonlySet<PaymentReference>>
}

/** Age limits count from the first presentation, not from the retry. */
export interface Presentation {
  readonly reference: PresentedReference
  readonly wallet: Address
  readonly presentedAtMs: number
  readonly bound: LandingBound
}
