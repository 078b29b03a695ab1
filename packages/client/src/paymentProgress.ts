import type { LastAnswer } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import type { PaymentPlan } from './planPayment.ts'
import type { Cost } from './spendingLimit.ts'
import type { SponsoredPlan } from './sponsored/planSponsored.ts'

/** Steps of a payment that a caller may show or store. */
export type PaymentProgress =
  /** `isDeposit`: the payment is for a tab, and the limit per request does not bound it. */
  | { readonly kind: 'quoted'; readonly plan: PaymentPlan; readonly isDeposit: boolean }
  /** A tab is about to pay at most the cost, after a deposit if there is none. A throw stops both. */
  | { readonly kind: 'debiting'; readonly endpoint: string; readonly mint: string; readonly cost: Cost }
  /** The offer of another protocol. */
  | { readonly kind: 'offered'; readonly plan: SponsoredPlan; readonly isDeposit: boolean }
  /** The payment is signed and has not left. Awaited, so that the caller can store it before; a throw stops the payment. */
  | { readonly kind: 'signed'; readonly payment: PendingPayment }
  /** An earlier payment is about to be presented, for its current request and under its current key. */
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
