import { createEventCodec } from './eventCodec.ts'
import { attemptEvents } from './events/attemptEvents.ts'
import { burnEvents } from './events/burnEvents.ts'
import type { EventOf } from './events/eventDefinition.ts'
import { finalityEvents } from './events/finalityEvents.ts'
import { holderPayoutEvents } from './events/holderPayoutEvents.ts'
import { distributionPaid } from './events/payoutEvents.ts'
import { refundEvents } from './events/refundEvents.ts'
import { settingEvents } from './events/settingEvents.ts'
import { tabLifecycleEvents, tabPaymentEvents } from './events/tabEvents.ts'
import { verificationEvents } from './events/verificationEvents.ts'

const paymentEvents = [...verificationEvents, ...attemptEvents, ...finalityEvents, ...tabPaymentEvents] as const
export const ledgerEvents = [
  ...paymentEvents,
  ...burnEvents,
  ...refundEvents,
  ...settingEvents,
  ...holderPayoutEvents,
  ...tabLifecycleEvents,
  distributionPaid,
] as const

export type PaymentEvent = EventOf<(typeof paymentEvents)[number]>
export type BurnEvent = EventOf<(typeof burnEvents)[number]>
export type RefundEvent = EventOf<(typeof refundEvents)[number]>
export type HolderPayoutEvent = EventOf<(typeof holderPayoutEvents)[number]>
export type TabLifecycleEvent = EventOf<(typeof tabLifecycleEvents)[number]>
export type SettingEvent = EventOf<(typeof settingEvents)[number]>
export type LedgerEvent = EventOf<(typeof ledgerEvents)[number]>

export const ledgerCodec = createEventCodec<LedgerEvent>(ledgerEvents)
export const burnCodec = createEventCodec<BurnEvent>(burnEvents)
export const holderPayoutCodec = createEventCodec<HolderPayoutEvent>(holderPayoutEvents)
export const tabLifecycleCodec = createEventCodec<TabLifecycleEvent>(tabLifecycleEvents)
/** Any other event in a payment stream is a bug or a tampered row. */
export const paymentCodec = createEventCodec<PaymentEvent>(paymentEvents)
