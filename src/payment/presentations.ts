import type { Address } from '@tollbook/core/address'
import type { LandingBound } from './absence.ts'
import type { PaymentReference, PresentedReference } from './paymentReference.ts'

/**
 * First presentations of proofs that could not be decided at once. They are not part of the ledger: the table is bounded
 * and expires. A lost row is harmless: the next presentation counts as the first one, and only its age can be refused.
 */
export interface Presentations {
  /** Records it unless the wallet has presented this payment before. Returns the first presentation. */
  record(presented: Presentation): Promise<Presentation>
  find(question: Pick<Presentation, 'reference' | 'wallet'>): Promise<Presentation | undefined>
  /** Those of these payments that any wallet has presented. */
  findPresented(references: readonly PaymentReference[]): Promise<ReadonlySet<PaymentReference>>
}

/** First time that a wallet presented a proof: age limits count from here, not from the retry. */
export interface Presentation {
  readonly reference: PresentedReference
  readonly wallet: Address
  /** Time of the chain, see `ChainReader.timeMs`. */
  readonly presentedAtMs: number
  /** For the bytes of this presentation. */
  readonly bound: LandingBound
}
