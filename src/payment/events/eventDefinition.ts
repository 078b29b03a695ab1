import type { z } from 'zod'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'

/** Recorded events never change (I22). A new meaning requires a new schema version with an upcast and a test. */
export interface AnyEvent {
  readonly kind: string
}

export interface EventDefinition<Event extends AnyEvent> {
  readonly kind: Event['kind']
  readonly schema: z.ZodType<Event>
  /**
   * This member is a method instead of a function property, so that TypeScript accepts definitions of different events
   * in one list.
   */
  postings(event: Event): readonly Posting[]
}

export type EventOf<Definition> = Definition extends EventDefinition<infer Event> ? Readonly<Event> : never

type EventSchema<Event extends AnyEvent> = z.ZodType<Event> & {
  readonly shape: { readonly kind: { readonly value: Event['kind'] } }
}

/** Defines an event. A negative amount fails an assertion here, and not in a later append. */
export function defineEvent<Event extends AnyEvent>(
  schema: EventSchema<Event>,
  postings: (event: NoInfer<Event>) => readonly Posting[] = () => [],
): EventDefinition<Event> {
  return { kind: schema.shape.kind.value, schema, postings: (event) => checkPostings(postings(event)) }
}

/** Checks the postings. Drops postings of zero, because a small share of a small price rounds to zero. */
function checkPostings(postings: readonly Posting[]): readonly Posting[] {
  for (const { debit, credit, amountBaseUnits } of postings) {
    assert(amountBaseUnits >= 0n, 'a posting moves a positive amount; the direction is in its accounts')
    assert(debit !== credit, 'a posting moves money between two accounts')
  }
  return postings.filter(({ amountBaseUnits }) => amountBaseUnits !== 0n)
}
