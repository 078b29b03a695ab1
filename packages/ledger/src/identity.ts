import { assert, assertPresent } from '@tollbook/core/assert'
import type { QueryRunner } from './database.ts'

export interface SeenEvent {
  readonly position: number
  readonly leafHash: string
}

export interface Identity {
  /** Identifier of the Postgres cluster. initdb creates it, and backups and standbys have the same identifier. */
  readonly systemIdentifier: string
  /** Timeline of the server, which increases with each promotion. Undefined on a standby. */
  readonly timeline: number | undefined
  readonly headPosition: number
  readonly head: SeenEvent | undefined
  /** Leaf hash of the queried event. Undefined if the database does not have the event. */
  readonly knownLeaf: string | undefined
  /** The newest report that a part of this ledger is lost. Undefined without a report. */
  readonly loss: { readonly number: number; readonly seen: SeenEvent } | undefined
}

// Time limit of this query. Shorter than the limit of other queries, so that a vanished server does not hide a
// promotion for long.
const queryTimeoutMs = 3_000

/** Reads in one snapshot, so that the head, the event and the recorded loss belong together. */
export async function identify(runner: QueryRunner, knownPosition: number | undefined): Promise<Identity> {
  const { rows } = await runner.query<IdentityRow>({
    text: `select system_identifier, timeline, head_seq, encode(head_leaf, 'hex') as head_leaf,
        encode(known_leaf, 'hex') as known_leaf, lost_number, lost_seq, encode(lost_leaf, 'hex') as lost_leaf
      from ledger.identify($1)`,
    values: [knownPosition ?? null],
    ...bounded,
  })
  const row = assertPresent(rows[0], 'a database identifies itself')
  assert(row.head_seq >= 0, 'an empty ledger ends at position 0')
  const { lost_number: number, lost_seq: lostPosition, lost_leaf: lostLeaf } = row
  return {
    systemIdentifier: row.system_identifier,
    timeline: row.timeline ?? undefined,
    headPosition: row.head_seq,
    head: row.head_leaf === null ? undefined : { position: row.head_seq, leafHash: row.head_leaf },
    knownLeaf: row.known_leaf ?? undefined,
    loss:
      number === null || lostPosition === null || lostLeaf === null
        ? undefined
        : { number, seen: { position: lostPosition, leafHash: lostLeaf } },
  }
}

// node-postgres reads this option, but its types lack it.
const bounded = { query_timeout: queryTimeoutMs }

interface IdentityRow {
  readonly system_identifier: string
  readonly timeline: number | null
  readonly head_seq: number
  readonly head_leaf: string | null
  readonly known_leaf: string | null
  readonly lost_number: number | null
  readonly lost_seq: number | null
  readonly lost_leaf: string | null
}

const leafHexLength = 64

export interface Loss extends SeenEvent {
  readonly reporter: string
}

/** Records the loss for all instances. Does nothing if the database has the event. */
export async function reportLoss(runner: QueryRunner, { position, leafHash, reporter }: Loss): Promise<void> {
  assert(position > 0 && leafHash.length === leafHexLength, 'a loss is of an event with its leaf')
  await runner.query("select ledger.report_lost_history($1, decode($2, 'hex'), $3)", [position, leafHash, reporter])
}
