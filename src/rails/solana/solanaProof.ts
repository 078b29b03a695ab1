import type { Signature } from '@tollbook/core/signature'
import type { SignedTransaction } from '../../payment/proof.ts'
import type { Proof } from '../../paywall/rail.ts'

/** A payment on Solana. Every form of it has a signature, which is its reference. */
export interface SolanaProof extends Proof {
  readonly signature: Signature
  /** Present in the bound forms: it opens the memo of a quote. */
  readonly secret: string | undefined
  /** Present in the transaction forms: not sent yet, as far as we know. */
  readonly transaction: SignedTransaction | undefined
}
