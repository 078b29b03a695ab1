import type { z } from 'zod'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'

/** A fact of the ledger. Facts never change: a new meaning is a new schema version with an upcast and a test. */
export interface AnyEvent {
  readonly kind: string
}

/**
 * Everything about one kind of event: its name, how its body is read, and its postings in double entry. The codec and
 * the write path are assembled from lists of definitions, so a new kind of event is one more definition.
 */
export interface EventDefinition<Event extends AnyEvent> {
  readonly kind: Event['kind']
  /** Schema of the body without its header. */
  readonly schema: z.ZodType<Event>
  /** Method syntax on purpose: definitions of different events are in one list. */
  postings(event: Event): readonly Posting[]
}

/** The event of a definition. */
export type EventOf<Definition> = Definition extends EventDefinition<infer Event> ? Readonly<Event> : never

/** Schema of a body, which names its kind. */
type EventSchema<Event extends AnyEvent> = z.ZodType<Event> & {
  readonly shape: { readonly kind: { readonly value: Event['kind'] } }
}

/**
 * Leaves out postings of zero, and asserts the others: a negative amount is a bug at once, not a rejected append. An
 * event without postings moves no money.
 */
export function defineEvent<Event extends AnyEvent>(
  schema: EventSchema<Event>,
  postings: (event: NoInfer<Event>) => readonly Posting[] = () => [],
): EventDefinition<Event> {
  return { kind: schema.shape.kind.value, schema, postings: (event) => checkPostings(postings(event)) }
}

/** Drops postings of nothing: a price of one base unit rounds some shares to zero. */
function checkPostings(postings: readonly Posting[]): readonly Posting[] {
  for (const { debit, credit, amountBaseUnits } of postings) {
    assert(amountBaseUnits >= 0n, 'a posting moves a positive amount; the direction is in its accounts')
    assert(debit !== credit, 'a posting moves money between two accounts')
  }
  return postings.filter(({ amountBaseUnits }) => amountBaseUnits !== 0n)
}
