import { z } from 'zod'
import type { AuditState } from '../auditState.ts'
import type { AuditedStream } from '../auditedStream.ts'
import { readMembers, utcTime } from '../body.ts'
import type { DeclaredKind } from '../declaredKind.ts'
import type { FindingCode, Findings } from '../findings.ts'
import type { HolderSnapshot } from '../holderSnapshot.ts'
import type { DerivedPosting, Journal } from '../journal.ts'
import type { OnChain, SignedBytes } from '../onChain.ts'
import type { PublishedPrices } from '../publishedPrices.ts'
import type { SettingPeriods } from '../settingPeriods.ts'
import type { StoredRows } from '../storedRows.ts'
import type { Streams } from '../streams.ts'

/*
 * A kind of stream as data: what its events look like, what they post, by which steps they follow each other, and which rules
 * they have to keep. A new kind is a file here and a line in kinds.ts.
 */

/** Members that the body of every event has, under the names that they have there. */
export interface EventHead {
  readonly kind: string
  readonly stream: string
  readonly version: number
  readonly schemaVersion: number
  /** In milliseconds since 1970, as every time of a body. */
  readonly effectiveAt: number
}

/** Position and time of recording. */
export interface Recorded {
  readonly position: number
  readonly recordedAtMs: number
}

export type Blame = (code: FindingCode, message: string, subject?: string) => void

/** Content that the row of a setting has to have. */
export type SettingRow = z.infer<typeof settingRow>

export const settingRow = z.object({
  id: z.string(),
  position: z.number(),
  validFromMs: z.number(),
  digest: z.string(),
})

/** The ledger as it was replayed so far. */
export interface ReplayedLedger {
  readonly findings: Findings
  readonly journal: Journal
  readonly streams: Streams
  readonly prices: PublishedPrices
  readonly periods: SettingPeriods
  readonly settings: StoredRows<SettingRow>
  /** Snapshots of holders that the auditor has, by digest. */
  readonly snapshots: ReadonlyMap<string, HolderSnapshot>
  /** A kind keeps in it the facts that its rules need. */
  readonly state: AuditState
}

/** The event's place in the ledger. It is judged after its postings have been entered and before its step is taken. */
export interface Judged extends Recorded {
  readonly row: AuditedStream
  /** When the event in front of it took effect. */
  readonly effectiveAtBefore: number
  readonly blame: Blame
  readonly ledger: ReplayedLedger
  /** SHA-256 of the body. */
  readonly bodyDigest: () => string
}

interface EventRules<E> {
  /** Postings that follow from the body. Amounts of zero are not posted. */
  readonly postings?: (event: E) => readonly DerivedPosting[]
  /** All postings of an event are of one mint; by default that of the member `mint`. */
  readonly mint?: (event: E) => string
  readonly judge?: (event: E, at: Judged) => void
  /** The signed transaction in the body. */
  readonly signed?: (event: E) => SignedBytes
  /** Facts that a node must confirm. */
  readonly onChain?: (event: E) => OnChain
}

/** An event that was read, with the rules of its kind. */
export interface ReadEvent {
  readonly event: EventHead
  readonly kind: AuditedKind
  /** Undefined for an event that moves nothing. */
  readonly mint: string | undefined
  readonly postings: () => readonly DerivedPosting[]
  readonly judge: (at: Judged) => void
  readonly signed: () => SignedBytes | undefined
  readonly onChain: () => OnChain | undefined
}

/** Throws `UnreadableBody`. */
type ReadBody = (body: unknown, kind: AuditedKind) => ReadEvent

export interface AuditedKind extends DeclaredKind {
  /** The stream's name in bodies, from the key behind the byte of the space. */
  readonly nameOf: (key: Buffer) => string
  /** Each kind of event with the reading of its body. */
  readonly events: ReadonlyMap<string, ReadBody>
}

/** The schema of a body: `members`, and those that every body has. */
export function bodyOf<K extends string, S extends z.core.$ZodLooseShape>(kind: K, members: S) {
  const head = { stream: z.string(), version: z.int(), schemaVersion: z.literal(1), effectiveAt: utcTime }
  return z.strictObject({ kind: z.literal(kind), ...head, ...members })
}

/** One kind of event, for the map of its kind of stream. */
export function eventOf<E extends EventHead>(
  body: z.ZodType<E> & { readonly shape: { readonly kind: { readonly value: string } } },
  rules: EventRules<E> = {},
): readonly [string, ReadBody] {
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
