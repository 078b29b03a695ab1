/** One append to one stream. Encoded once by its caller: a retry sends the same bytes. */
export interface Item {
  /** Space byte and key. Its first append makes it single-use. */
  readonly stream: Uint8Array
  /** Name of a declared step, such as `payment.claim`. */
  readonly step: string
  /** Number of events that the decision was made on; 0 for a new stream. */
  readonly expectedVersion: number
  /** Present for steps that take a lease, and for no other. */
  readonly leaseMs?: number
  readonly events: readonly ItemEvent[]
  /** Versions of other streams that the decision was made on. */
  readonly guards?: readonly Guard[]
  /** Further unique keys. */
  readonly keys?: readonly ItemKey[]
  /** Stored with the ledger for replay; the first note of a stream stays. */
  readonly note?: Uint8Array
}

/** One event of an item, with the postings that it causes. */
export interface ItemEvent {
  readonly kind: string
  readonly schemaVersion: number
  /** When it happened in the world, as opposed to when it was recorded. */
  readonly effectiveAtMs: number
  /** Canonical JSON in UTF-8; opaque to the ledger. */
  readonly body: Uint8Array
  readonly postings: readonly Posting[]
}

/** One movement between two accounts. It names both sides once, so it cannot be out of balance (I17). */
export interface Posting {
  readonly debit: string
  readonly credit: string
  readonly mint: string
  readonly amountBaseUnits: bigint
}

/** Another stream that must still be at this version. It is checked and not changed. */
export interface Guard {
  readonly stream: Uint8Array
  readonly version: number
}

/** A key that this item takes, such as an idempotency key. */
export interface ItemKey {
  readonly space: number
  readonly key: Uint8Array
  /** The same stream may use its key again with the same digest. */
  readonly digest?: Uint8Array
  /** Without it the key is used permanently. */
  readonly lifetimeSeconds?: number
}

export interface Leaf {
  /** 1, 2, 3… over the whole ledger, without a gap. */
  readonly position: number
  /** In hex. */
  readonly leafHash: string
}

/** Durable when it is returned. */
export interface Appended {
  readonly outcome: 'appended'
  readonly recordedAtMs: number
  /** One per event, in order. */
  readonly leaves: readonly Leaf[]
}

export type AppendResult = Appended | { readonly outcome: 'refused'; readonly refusal: Refusal }

/** A refused item changes nothing and never fails its neighbours. */
export type Refusal = { readonly reason: PlainRefusal } | { readonly reason: 'limit'; readonly account: string }

export type PlainRefusal = (typeof plainRefusals)[number]

export const plainRefusals = [
  /** The stream has moved on, its lease still runs, or the step does not start in its state. */
  'conflict',
  /** The step exists from this state, but not with these events, this lease or this writer. */
  'not_this_step',
  /** The id is not one of the step's kind. */
  'not_this_id',
  /** A posting moves nothing, mixes mints, or moves between classes that the step may not. */
  'overreaching',
  /** A guarded stream has another version. */
  'guard',
  'key_used',
] as const

/** A refusal without further facts. */
export function refused(reason: PlainRefusal): AppendResult {
  return { outcome: 'refused', refusal: { reason } }
}
