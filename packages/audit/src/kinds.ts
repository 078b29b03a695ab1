import { z } from 'zod'
import { parseCanonical, readMembers, utcTime } from './body.ts'
import type { AuditedKind, EventHead, ReadEvent } from './kinds/auditedKind.ts'
import { arrival } from './kinds/arrival.ts'
import { burn } from './kinds/burn.ts'
import { holderPayout } from './kinds/holderPayout.ts'
import { payment } from './kinds/payment.ts'
import { payout } from './kinds/payout.ts'
import { priceList } from './kinds/priceList.ts'
import { refund } from './kinds/refund.ts'
import { setting } from './kinds/setting.ts'
import { tabLifecycle } from './kinds/tabLifecycle.ts'
import { tabRequest } from './kinds/tabRequest.ts'

export const kinds: readonly AuditedKind[] = [
  tabLifecycle,
  tabRequest,
  arrival,
  payment,
  payout,
  burn,
  refund,
  holderPayout,
  priceList,
  setting,
]

type EventsKind = readonly [event: string, kind: AuditedKind]

const eventsOf = (kind: AuditedKind): readonly EventsKind[] => [...kind.events.keys()].map((event) => [event, kind])
const firstEventsOf = (kind: AuditedKind): readonly EventsKind[] =>
  kind.steps.flatMap(({ from, events: [first = ''] }) => (from === '' ? [[first, kind]] : []))

/** Maps event names to kinds. If two kinds share a name, the kind whose streams can begin with it has priority. */
const kindsByEvent = new Map([...kinds.flatMap(eventsOf), ...kinds.flatMap(firstEventsOf)])
const kindsByName = new Map(kinds.map((kind) => [kind.kind, kind]))

/** An event that this version of the auditor does not support. It has only the members that all events share. */
export interface UnknownEvent {
  readonly event: EventHead
  readonly kind: undefined
}

const unknownHead = z.object({
  kind: z.string().min(1),
  stream: z.string().min(1),
  version: z.int().min(1),
  schemaVersion: z.int().min(1),
  effectiveAt: utcTime,
})

/**
 * Parses the body of any event. `kindOf` returns the kind of a stream that already has events. Throws `UnreadableBody`
 * if the body is not canonical JSON with the members of its kind.
 */
export function readEvent(body: Buffer, kindOf?: (stream: string) => string | undefined): ReadEvent | UnknownEvent {
  const value = parseCanonical(body)
  const name = memberOf(value, 'kind')
  const stream = memberOf(value, 'stream')
  const prefixed = kinds.find(({ namePrefix }) => namePrefix !== undefined && stream.startsWith(namePrefix))
  const own = kindsByName.get(kindOf?.(stream) ?? '') ?? prefixed
  const kind = own?.events.has(name) === true ? own : kindsByEvent.get(name)
  const read = kind?.events.get(name)
  if (kind !== undefined && read !== undefined) return read(value, kind)
  return { event: readMembers(unknownHead, value), kind: undefined }
}

function memberOf(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return ''
  const member: unknown = Object.getOwnPropertyDescriptor(value, name)?.value
  return typeof member === 'string' ? member : ''
}

/** Returns the name that bodies use for the stream with this id. Undefined if no kind has ids of this form. */
export function streamOfId(id: Buffer): string | undefined {
  const key = id.subarray(1)
  const kind = kinds.find(({ space, idBytes }) => space === id[0] && (idBytes === 0 || idBytes === key.length))
  return kind?.nameOf(key)
}
