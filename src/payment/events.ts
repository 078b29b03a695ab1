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

/** Events of the stream of one payment. */
export type PaymentEvent = EventOf<(typeof paymentEvents)[number]>
export type BurnEvent = EventOf<(typeof burnEvents)[number]>
/** Events of the stream of decisions about the refund of one payment. */
export type RefundEvent = EventOf<(typeof refundEvents)[number]>
/** Events of the stream of a plan for the holders of the token. */
export type HolderPayoutEvent = EventOf<(typeof holderPayoutEvents)[number]>
/** Events of the stream of a tab's lifecycle. */
export type TabLifecycleEvent = EventOf<(typeof tabLifecycleEvents)[number]>
export type SettingEvent = EventOf<(typeof settingEvents)[number]>
export type LedgerEvent = EventOf<(typeof ledgerEvents)[number]>

/** Codec of all events that the service writes. */
export const ledgerCodec = createEventCodec<LedgerEvent>(ledgerEvents)
/** Codec of the streams of burns. */
export const burnCodec = createEventCodec<BurnEvent>(burnEvents)
/** Codec of the streams of plans for holders. */
export const holderPayoutCodec = createEventCodec<HolderPayoutEvent>(holderPayoutEvents)
/** Codec of the streams of the lifecycles of tabs. */
export const tabLifecycleCodec = createEventCodec<TabLifecycleEvent>(tabLifecycleEvents)
/** Codec of the streams of payments. Any other event in such a stream is a bug or a tampered row. */
export const paymentCodec = createEventCodec<PaymentEvent>(paymentEvents)
