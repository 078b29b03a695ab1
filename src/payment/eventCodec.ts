import { z } from 'zod'
import type { Posting } from '../accounting/posting.ts'
import { assert, assertPresent } from '@tollbook/core/assert'
import { canonicalText } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { AnyEvent, EventDefinition } from './events/eventDefinition.ts'

/*
 * Events as bytes. The ledger relies on the body: RFC 8785 JSON in UTF-8, written once, hashed, and never changed. Base
 * units are decimal strings.
 */

export interface EventHeader {
  /** Name of the stream, for example `tab:<tab>:<number>` or `prices#17`. */
  readonly stream: string
  /** 1, 2, 3… within the stream. */
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
  /** Parses a body from the ledger. A body that does not parse is a bug or a tampered row, never a caller's mistake. */
  decode(body: string): DecodedEvent<Event>
  /** The event in double entry. Only this method decides where the money goes. */
  postingsOf(event: Event): readonly Posting[]
}

/** Encodes to canonical JSON (RFC 8785), because the hash of these bytes is the leaf of the ledger. */
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
