import { z } from 'zod'
import type { AuditState } from '../auditState.ts'
import type { AuditedStream } from '../auditedStream.ts'
import { readMembers, utcTime } from '../body.ts'
import type { DeclaredKind } from '../declaredKind.ts'
import type { FindingCode, Findings } from '../findings.ts'
import type { HolderSnapshot } from '../holderSnapshot.ts'
import type { DerivedPosting, PostingReplay } from '../postingReplay.ts'
import type { OnChain, SignedBytes } from '../onChain.ts'
import type { PublishedPrices } from '../publishedPrices.ts'
import type { SettingPeriods } from '../settingPeriods.ts'
import type { StoredRows } from '../storedRows.ts'
import type { Streams } from '../streams.ts'

/*
 * A kind of stream as data: the bodies of its events, their postings, the permitted steps and the rules. A new kind is
 * a file in this folder and a line in kinds.ts.
 */

/** Members that every body has, with their names in the body. */
export interface EventHead {
  readonly kind: string
  readonly stream: string
  readonly version: number
  readonly schemaVersion: number
  /** Milliseconds since 1970, like every time read from a body. */
  readonly effectiveAt: number
}

/** Position and time of recording. */
export interface Recorded {
  readonly position: number
  readonly recordedAtMs: number
}

export type Blame = (code: FindingCode, message: string, subject?: string) => void

/** The required content of a setting's row. */
export type SettingRow = z.infer<typeof settingRow>

export const settingRow = z.object({
  id: z.string(),
  position: z.number(),
  validFromMs: z.number(),
  digest: z.string(),
})

/** The state of the replay before the current event. */
export interface ReplayedLedger {
  readonly findings: Findings
  readonly postings: PostingReplay
  readonly streams: Streams
  readonly prices: PublishedPrices
  readonly periods: SettingPeriods
  readonly settings: StoredRows<SettingRow>
  /** The auditor's snapshots of holders, by digest. */
  readonly snapshots: ReadonlyMap<string, HolderSnapshot>
  /** State in which a kind stores the facts for its rules. */
  readonly state: AuditState
}

/** Input of an event's rules. They run after the event's postings have been entered and before its step is taken. */
export interface Judged extends Recorded {
  readonly row: AuditedStream
  /** Time at which the previous event took effect. */
  readonly effectiveAtBefore: number
  readonly blame: Blame
  readonly ledger: ReplayedLedger
  /** SHA-256 of the body. */
  readonly bodyDigest: () => string
}

interface EventRules<E> {
  /** Postings that follow from the body. Amounts of zero are not posted. */
  readonly postings?: (event: E) => readonly DerivedPosting[]
  /** The mint of all postings of an event. Default: the member `mint`. */
  readonly mint?: (event: E) => string
  readonly judge?: (event: E, at: Judged) => void
  /** The signed transaction in the body. */
  readonly signed?: (event: E) => SignedBytes
  /** Facts that a node must confirm. */
  readonly onChain?: (event: E) => OnChain
}

/** A parsed event with the rules of its kind. */
export interface ReadEvent {
  readonly event: EventHead
  readonly kind: AuditedKind
  /** Undefined for an event without postings. */
  readonly mint: string | undefined
  readonly postings: () => readonly DerivedPosting[]
  readonly judge: (at: Judged) => void
  readonly signed: () => SignedBytes | undefined
  readonly onChain: () => OnChain | undefined
}

type ReadBody = (body: unknown, kind: AuditedKind) => ReadEvent

export interface AuditedKind extends DeclaredKind {
  /** Beginning of the streams' names, if another kind begins with the same event. */
  readonly namePrefix?: string
  /** Returns the stream's name in bodies. `key` is the id without its first byte, the space. */
  readonly nameOf: (key: Buffer) => string
  /** The reader of each event's body, by event name. */
  readonly events: ReadonlyMap<string, ReadBody>
}

/** Creates the schema of a body: `members`, and the members that every body has. */
export function bodyOf<K extends string, S extends z.core.$ZodLooseShape>(kind: K, members: S) {
  const head = { stream: z.string(), version: z.int(), schemaVersion: z.literal(1), effectiveAt: utcTime }
  return z.strictObject({ kind: z.literal(kind), ...head, ...members })
}

export type EventEntry = readonly [name: string, read: ReadBody]

/** Creates the entry of one event for the `events` of its kind. */
export function eventOf<E extends EventHead>(
  body: z.ZodType<E> & { readonly shape: { readonly kind: { readonly value: string } } },
  rules: EventRules<E> = {},
): EventEntry {
  const { postings, mint = mintMember, judge, signed, onChain } = rules
  return [
    body.shape.kind.value,
    (value, kind) => {
      const event = readMembers(body, value)
      return {
        event,
        kind,
        mint: mint(event),
        postings: () => (postings?.(event) ?? []).filter(([, , amountBaseUnits]) => amountBaseUnits !== 0n),
        judge: (at) => judge?.(event, at),
        signed: () => signed?.(event),
        onChain: () => onChain?.(event),
      }
    },
  ]
}

function mintMember(event: EventHead): string | undefined {
  return 'mint' in event && typeof event.mint === 'string' ? event.mint : undefined
}
