import type { LastAnswer } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import type { PaymentPlan } from './planPayment.ts'
import type { SponsoredPlan } from './sponsored/planSponsored.ts'

/** Steps that a caller may want to display or to store. */
export type PaymentProgress =
  | { readonly kind: 'quoted'; readonly plan: PaymentPlan }
  /** The offer of a service that is not Tollbook. */
  | { readonly kind: 'offered'; readonly plan: SponsoredPlan }
  /** Signed, and nothing has left yet: what is written down now outlives a crash. Awaited; a throw stops the payment. */
  | { readonly kind: 'signed'; readonly payment: PendingPayment }
  /** An earlier payment is about to be presented again, for its current request and under its current key. */
  | { readonly kind: 'resumed'; readonly payment: PendingPayment }
  | {
      readonly kind: 'waiting'
      readonly payment: PendingPayment
      readonly attempt: number
      readonly delayMs: number
      /** Undefined when the answer was lost. */
      readonly lastAnswer: LastAnswer | undefined
    }
  | { readonly kind: 'delivered'; readonly payment: PendingPayment; readonly attempts: number }
