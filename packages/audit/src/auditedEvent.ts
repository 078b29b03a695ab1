import { BodyReader, UnreadableBody } from './bodyReader.ts'
import type { EventReader } from './eventHead.ts'
import { type HolderPayoutEvent, holderPayoutReaders } from './holderPayoutEvents.ts'
import { type PaymentEvent, paymentReaders } from './paymentEvents.ts'
import { type BurnEvent, burnReaders, type PayoutEvent, payoutReaders } from './payoutEvents.ts'
import { type RefundEvent, refundReaders } from './refundEvents.ts'
import { type PriceListEvent, priceListReaders, type SettingEvent, settingReaders } from './settingEvents.ts'

/** Every event that an auditor knows; a new kind of stream adds its union and its readers. */
export type AuditedEvent =
  | PaymentEvent
  | PayoutEvent
  | HolderPayoutEvent
  | BurnEvent
  | RefundEvent
  | PriceListEvent
  | SettingEvent

export type EventOf<K extends AuditedEvent['kind']> = Extract<AuditedEvent, { kind: K }>

const readers: ReadonlyMap<string, EventReader<AuditedEvent>> = new Map<string, EventReader<AuditedEvent>>([
  ...paymentReaders,
  ...payoutReaders,
  ...burnReaders,
  ...refundReaders,
  ...holderPayoutReaders,
  ...priceListReaders,
  ...settingReaders,
])

const kindKey = '"kind":"'

/** `latin1`: the body's bytes, one character each. Throws `UnreadableBody`. */
export function readEvent(latin1: string): AuditedEvent {
  const reader = new BodyReader(latin1)
  const event = readerOf(latin1)(reader)
  reader.literal('}')
  reader.end()
  if (event.schemaVersion !== 1) throw new UnreadableBody(`schema version ${event.schemaVersion} is not known`)
  return event
}

/** The first `"kind":"` is the event's own: keys are sorted, and inside a string the quotes would be escaped. */
function readerOf(latin1: string): EventReader<AuditedEvent> {
  const kindAt = latin1.indexOf(kindKey) + kindKey.length
  const read = readers.get(latin1.slice(kindAt, latin1.indexOf('"', kindAt)))
  if (read === undefined) throw new UnreadableBody('this auditor does not know the kind')
  return read
}
