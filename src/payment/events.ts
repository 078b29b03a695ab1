import { createEventCodec } from './eventCodec.ts'
import {
  type AnswerBroken,
  type AnswerStarted,
  attemptEvents,
  type AttemptsExhausted,
  type DistributionAllocated,
  type ProofClaimed,
  type RequestFailed,
  type RequestFulfilled,
} from './events/attemptEvents.ts'
import { burnEvents, type BurnConfirmed, type BurnFailed, type BurnSubmitted } from './events/burnEvents.ts'
import {
  type BurnReversed,
  finalityEvents,
  type PaymentFinalized,
  type PaymentReversed,
  type RefundDue,
  type TransferReceived,
} from './events/finalityEvents.ts'
import { holderPayoutEvents, type HolderPayoutEnded, type HolderPayoutPlanned } from './events/holderPayoutEvents.ts'
import { distributionPaid, type DistributionPaid } from './events/payoutEvents.ts'
import { refundEvents, type RefundApproved, type RefundGranted } from './events/refundEvents.ts'
import { type PriceListPublished, type SettingChanged, settingEvents } from './events/settingEvents.ts'
import {
  type BurnOwed,
  type PaymentSubmitted,
  type PaymentVerified,
  type TokensBurned,
  verificationEvents,
} from './events/verificationEvents.ts'

/** Events of the stream of one payment. */
export type PaymentEvent =
  | PaymentSubmitted
  | PaymentVerified
  | TokensBurned
  | BurnOwed
  | ProofClaimed
  | AnswerStarted
  | AnswerBroken
  | RequestFulfilled
  | DistributionAllocated
  | RequestFailed
  | AttemptsExhausted
  | PaymentFinalized
  | PaymentReversed
  | BurnReversed
  | RefundDue
  | TransferReceived

export type BurnEvent = BurnSubmitted | BurnConfirmed | BurnFailed
/** Events of the stream of decisions about the refund of one payment. */
export type RefundEvent = RefundApproved | RefundGranted
/** Events of the stream of a plan for the holders of the token. */
export type HolderPayoutEvent = HolderPayoutPlanned | HolderPayoutEnded
export type SettingEvent = PriceListPublished | SettingChanged
export type LedgerEvent = PaymentEvent | BurnEvent | RefundEvent | SettingEvent | HolderPayoutEvent | DistributionPaid

const paymentEvents = [...verificationEvents, ...attemptEvents, ...finalityEvents] as const
export const ledgerEvents = [
  ...paymentEvents,
  ...burnEvents,
  ...refundEvents,
  ...settingEvents,
  ...holderPayoutEvents,
  distributionPaid,
] as const

/** Codec of everything that the service writes. */
export const ledgerCodec = createEventCodec<LedgerEvent>(ledgerEvents)
/** Codec of the streams of burns. */
export const burnCodec = createEventCodec<BurnEvent>(burnEvents)
/** Codec of the streams of plans for holders. */
export const holderPayoutCodec = createEventCodec<HolderPayoutEvent>(holderPayoutEvents)
/** Codec of the streams of payments: anything else in them is a bug or a tampered row. */
export const paymentCodec = createEventCodec<PaymentEvent>(paymentEvents)
