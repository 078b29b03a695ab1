import { z } from 'zod'
import type { Posting } from '../accounting/posting.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { canonicalText } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { AnyEvent, EventDefinition } from './events/eventDefinition.ts'

/* The body of an event is RFC 8785 JSON in UTF-8, which is written once, hashed, and never changed. */

export interface EventHeader {
  /** Name of the stream, for example `tab:<tab>:<number>` or `prices#17`. */
  readonly stream: string
  readonly version: number
  /** Time at which the event happened, which may be earlier than its record. */
  readonly effectiveAtMs: number
}

export const schemaVersion = 1

export interface DecodedEvent<Event extends AnyEvent> extends EventHeader {
  readonly event: Event
}

export interface EventCodec<Event extends AnyEvent> {
  readonly kinds: readonly Event['kind'][]
  encode(event: Event, header: EventHeader): string
  /** Throws if the body does not parse, which is a bug or a tampered row. */
  decode(body: string): DecodedEvent<Event>
  /**
   * Returns the postings of an event. Only this method decides the accounts, so that a replay of the events leads to
   * the same balances (I24).
   */
  postingsOf(event: Event): readonly Posting[]
}

/**
 * Creates a codec, which writes canonical JSON (RFC 8785), because the leaf hash of an event is computed over these
 * bytes.
 */
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
