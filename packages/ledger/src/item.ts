/** One append to one stream. The caller encodes it once, so a retry sends the same bytes. */
export interface Item {
  /** Space byte and key of the stream. One append creates the stream, so its key is single-use. */
  readonly stream: Uint8Array
  /** Name of a declared step, such as `payment.claim`. */
  readonly step: string
  /** Number of events in the stream when the decision was made. 0 for a new stream. */
  readonly expectedVersion: number
  /** Duration of the lease in milliseconds. Present only for steps that take a lease. */
  readonly leaseMs?: number
  readonly events: readonly ItemEvent[]
  /** Versions of other streams that the decision depends on. */
  readonly guards?: readonly Guard[]
  /** Further keys that must be unique. */
  readonly keys?: readonly ItemKey[]
  /**
   * Answer that the service can send again. It is stored by the same append, but is not part of the ledger, and is
   * deleted within about a day. While the stream has a note, further notes are ignored.
   */
  readonly note?: Uint8Array
}

export interface ItemEvent {
  readonly kind: string
  readonly schemaVersion: number
  /** Time at which the event took effect, which can be earlier than its recording. */
  readonly effectiveAtMs: number
  /** Canonical JSON in UTF-8. An append stores it and does not interpret it. */
  readonly body: Uint8Array
  readonly postings: readonly Posting[]
}

/** One movement between two accounts. It states debit and credit together, so it is always in balance (I17). */
export interface Posting {
  readonly debit: string
  readonly credit: string
  readonly mint: string
  readonly amountBaseUnits: bigint
}

/** Another stream that must still have this version. The append checks that stream and does not change it. */
export interface Guard {
  readonly stream: Uint8Array
  readonly version: number
}

export interface ItemKey {
  readonly space: number
  readonly key: Uint8Array
  /** Digest of the key's content. The same stream may use the key again with the same digest. */
  readonly digest?: Uint8Array
  /** Time until the key may be used again. Absent: the key is used permanently. */
  readonly lifetimeSeconds?: number
}

export interface Leaf {
  /** Position in the whole ledger, counted from 1 without gaps. */
  readonly position: number
  readonly leafHash: string
}

/** The item is recorded durably. */
export interface Appended {
  readonly outcome: 'appended'
  readonly recordedAtMs: number
  /** One leaf per event, in order. */
  readonly leaves: readonly Leaf[]
}

export type AppendResult = Appended | { readonly outcome: 'refused'; readonly refusal: Refusal }

/** Reason why an item was refused. A refused item changes nothing, and other items of its batch still succeed. */
export type Refusal = { readonly reason: PlainRefusal } | { readonly reason: 'limit'; readonly account: string }

export type PlainRefusal = (typeof plainRefusals)[number]

export const plainRefusals = [
  /** The stream has another version or kind, its lease still runs, or the step does not start in the stream's state. */
  'conflict',
  /** The step does not exist, or not with these events, this lease or this writer. */
  'not_this_step',
  /** The id does not belong to the step's kind, or the step may not record this number of a setting. */
  'not_this_id',
  /** An amount is not a positive integer, or a posting mixes mints or classes that the step does not permit. */
  'overreaching',
  /** A guarded stream has another version, or the previous number of a setting is missing. */
  'guard',
  'key_used',
] as const

export function refused(reason: PlainRefusal): AppendResult {
  return { outcome: 'refused', refusal: { reason } }
}
