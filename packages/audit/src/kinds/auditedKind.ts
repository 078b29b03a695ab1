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
 * Types that describe a kind of stream as data: the bodies of its events, their postings, the permitted steps and the
 * rules. To add a kind, add a file to this folder and a line to kinds.ts.
 */

/** Members that every event body has. The names are the same as in the JSON. */
export interface EventHead {
  readonly kind: string
  readonly stream: string
  readonly version: number
  readonly schemaVersion: number
  /** Time at which the event took effect, in milliseconds since 1970, as for all times in bodies. */
  readonly effectiveAt: number
}

export interface Recorded {
  readonly position: number
  readonly recordedAtMs: number
}

export type Blame = (code: FindingCode, message: string, subject?: string) => void

/** Content that a row of `ledger.settings` must have. */
export type SettingRow = z.infer<typeof settingRow>

export const settingRow = z.object({
  id: z.string(),
  position: z.number(),
  validFromMs: z.number(),
  digest: z.string(),
})

/** State of the replay that the rules of an event may read and change. */
export interface ReplayedLedger {
  readonly findings: Findings
  readonly postings: PostingReplay
  readonly streams: Streams
  readonly prices: PublishedPrices
  readonly periods: SettingPeriods
  readonly settings: StoredRows<SettingRow>
  /** Snapshots of token holders that the auditor supplied, by their SHA-256 digest. */
  readonly snapshots: ReadonlyMap<string, HolderSnapshot>
  /** Storage for facts that the rules of a kind need at later events. */
  readonly state: AuditState
}

/** Input of an event's rules. The rules run after the postings of the event are entered, and before its step is taken. */
export interface Judged extends Recorded {
  readonly row: AuditedStream
  /** Time at which the previous event of a known kind took effect. */
  readonly effectiveAtBefore: number
  readonly blame: Blame
  readonly ledger: ReplayedLedger
  /** A function, because only settings and price lists need the SHA-256 of their body, in hexadecimal text. */
  readonly bodyDigest: () => string
}

interface EventRules<E> {
  /** Returns the postings that follow from the body. Amounts of zero are not posted. */
  readonly postings?: (event: E) => readonly DerivedPosting[]
  /** Returns the mint of all postings of the event. Absent: the member `mint` of the body. */
  readonly mint?: (event: E) => string
  readonly judge?: (event: E, at: Judged) => void
  /** Returns the signed transaction that the body contains. Absent: the body contains none. */
  readonly signed?: (event: E) => SignedBytes
  /** Returns the facts that a Solana node must confirm. Absent: the event has none. */
  readonly onChain?: (event: E) => OnChain
}

export interface ReadEvent {
  readonly event: EventHead
  readonly kind: AuditedKind
  /** Mint of the postings. Undefined only for an event without postings. */
  readonly mint: string | undefined
  readonly postings: () => readonly DerivedPosting[]
  readonly judge: (at: Judged) => void
  readonly signed: () => SignedBytes | undefined
  readonly onChain: () => OnChain | undefined
}

type ReadBody = (body: unknown, kind: AuditedKind) => ReadEvent

export interface AuditedKind extends DeclaredKind {
  /** Start of the stream names. Present if another kind begins with the same event, to distinguish the kinds. */
  readonly namePrefix?: string
  /** Returns the name that bodies use for a stream. `key` is the stream id without its first byte, which is the space. */
  readonly nameOf: (key: Buffer) => string
  readonly events: ReadonlyMap<string, ReadBody>
}

/** Makes a strict schema, so that a body with an unknown member is unreadable. */
export function bodyOf<K extends string, S extends z.core.$ZodLooseShape>(kind: K, members: S) {
  const head = { stream: z.string(), version: z.int(), schemaVersion: z.literal(1), effectiveAt: utcTime }
  return z.strictObject({ kind: z.literal(kind), ...head, ...members })
}

export type EventEntry = readonly [name: string, read: ReadBody]

/** Returns the entry of an event. Its name is the `kind` in the body's schema, so that the two cannot differ. */
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
