import type { LastAnswer } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import type { PaymentPlan } from './planPayment.ts'
import type { Cost } from './spendingLimit.ts'
import type { SponsoredPlan } from './sponsored/planSponsored.ts'

/** Steps of a payment that a caller may show or store. */
export type PaymentProgress =
  /** The service offered a price. `isDeposit`: the payment is for a tab, and the limit per request does not apply. */
  | { readonly kind: 'quoted'; readonly plan: PaymentPlan; readonly isDeposit: boolean }
  /** A tab is about to pay at most this cost, after a deposit if no tab is open. A throw stops debit and deposit. */
  | { readonly kind: 'debiting'; readonly endpoint: string; readonly mint: string; readonly cost: Cost }
  /** Like `quoted`, for an offer of another payment protocol (x402 or MPP). */
  | { readonly kind: 'offered'; readonly plan: SponsoredPlan; readonly isDeposit: boolean }
  /**
   * The payment is signed and has not been sent. Awaited, so that the caller can store the payment first. A throw stops
   * the payment.
   */
  | { readonly kind: 'signed'; readonly payment: PendingPayment }
  /** An earlier payment is about to be presented. It has the request and the idempotency key that will be sent. */
  | { readonly kind: 'resumed'; readonly payment: PendingPayment }
  | {
      readonly kind: 'waiting'
      readonly payment: PendingPayment
      readonly attempt: number
      readonly delayMs: number
      /** Undefined: the answer was lost. */
      readonly lastAnswer: LastAnswer | undefined
    }
  | { readonly kind: 'delivered'; readonly payment: PendingPayment; readonly attempts: number }
