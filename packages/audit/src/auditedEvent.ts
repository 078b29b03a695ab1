import { z } from 'zod'
import { BodyReader, UnreadableBody } from './bodyReader.ts'
import { type EventHead, type EventReader, readTime } from './eventHead.ts'
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

/** An event of a kind that no auditor of this release knows, as far as every event is the same. */
export interface UnknownEvent extends EventHead {
  readonly kind: string
  readonly isUnknown: true
}

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

/** As `readEvent`, and the head of an event whose kind is not known. */
export function readAnyEvent(latin1: string): AuditedEvent | UnknownEvent {
  try {
    return readEvent(latin1)
  } catch (error) {
    const unknown = error instanceof UnreadableBody ? readUnknownEvent(latin1) : undefined
    if (unknown === undefined) throw error
    return unknown
  }
}

const unknownHead = z.object({
  kind: z.string().min(1),
  stream: z.string().min(1),
  version: z.int().min(1),
  schemaVersion: z.int().min(1),
  effectiveAt: z.string(),
})

/**
 * The head of an event of another kind. The body still has to be canonical. Undefined for a kind that is known, whose
 * body is then unreadable.
 */
function readUnknownEvent(latin1: string): UnknownEvent | undefined {
  const reader = new BodyReader(latin1)
  reader.canonicalValue('')
  reader.end()
  const parsed = unknownHead.safeParse(JSON.parse(Buffer.from(latin1, 'latin1').toString('utf8')))
  if (!parsed.success || readers.has(parsed.data.kind)) return undefined
  const { effectiveAt, ...head } = parsed.data
  return { ...head, effectiveAtMs: readTime(new BodyReader(JSON.stringify(effectiveAt)), ''), isUnknown: true }
}

/** The first `"kind":"` is the event's own: keys are sorted, and inside a string the quotes would be escaped. */
function readerOf(latin1: string): EventReader<AuditedEvent> {
  const kindAt = latin1.indexOf(kindKey) + kindKey.length
  const read = readers.get(latin1.slice(kindAt, latin1.indexOf('"', kindAt)))
  if (read === undefined) throw new UnreadableBody('this auditor does not know the kind')
  return read
}
