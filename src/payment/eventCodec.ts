import { z } from 'zod'
import type { Posting } from '../accounting/posting.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { canonicalText } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { AnyEvent, EventDefinition } from './events/eventDefinition.ts'

/*
 * Encoding of events. The body of an event is RFC 8785 JSON in UTF-8. It is written once, hashed, and never changed.
 * Base units are decimal strings.
 */

export interface EventHeader {
  /** Name of the stream, for example `tab:<tab>:<number>` or `prices#17`. */
  readonly stream: string
  /** Number of the event within its stream: 1, 2, 3… */
  readonly version: number
  /** Time at which the event happened. It may be earlier than the time of its record. */
  readonly effectiveAtMs: number
}

export const schemaVersion = 1

export interface DecodedEvent<Event extends AnyEvent> extends EventHeader {
  readonly event: Event
}

export interface EventCodec<Event extends AnyEvent> {
  readonly kinds: readonly Event['kind'][]
  encode(event: Event, header: EventHeader): string
  /**
   * Parses a body from the ledger. A body that does not parse is a bug or a tampered row, and never a mistake of the
   * caller.
   */
  decode(body: string): DecodedEvent<Event>
  /**
   * Returns the postings of the event in double-entry accounting. Only this method decides which accounts an event
   * debits and credits.
   */
  postingsOf(event: Event): readonly Posting[]
}

/** Creates a codec that encodes events as canonical JSON (RFC 8785). The hash of these bytes is the leaf of the ledger. */
export function createEventCodec<Event extends AnyEvent>(
  definitions: readonly EventDefinition<Event>[],
): EventCodec<Event> {
  const byKind = new Map(definitions.map((definition) => [definition.kind, definition]))
  assert(byKind.size === definitions.length, 'each kind of event is defined once')
  const definitionOf = (kind: string) => assertPresent(byKind.get(kind), `${kind} is a kind of event of this codec`)
  return {
    kinds: [...byKind.keys()],
    encode(event, { stream, version, effectiveAtMs }) {
      definitionOf(event.kind)
      return canonicalText({ ...event, schemaVersion, stream, version, effectiveAt: isoTime(effectiveAtMs) })
    },
    decode(body) {
      const json: unknown = JSON.parse(body)
      const { kind, schemaVersion: found, stream, version, effectiveAt } = header.parse(json)
      assert(found === schemaVersion, `event schema version ${schemaVersion} is read, not ${found}`)
      const event = definitionOf(kind).schema.parse(json)
      return { stream, version, effectiveAtMs: Date.parse(effectiveAt), event }
    },
    postingsOf: (event) => definitionOf(event.kind).postings(event),
  }
}

const header = z.object({
  kind: z.string(),
  schemaVersion: z.int(),
  stream: z.string(),
  version: z.int().min(1),
  effectiveAt: z.iso.datetime(),
})
