import { assert, assertPresent } from '@tollbook/core/assert'
import type { QueryRunner } from './database.ts'

/** An event that a database has acknowledged. */
export interface SeenEvent {
  readonly position: number
  /** In hex. */
  readonly leafHash: string
}

/** Marks that distinguish one ledger, and one server of it, from another. */
export interface Identity {
  /** Identifier of the Postgres cluster. initdb makes it; backups and standbys keep it. */
  readonly systemIdentifier: string
  /** Raised by each promotion. Undefined on a standby. */
  readonly timeline: number | undefined
  readonly headPosition: number
  readonly head: SeenEvent | undefined
  /** Leaf of the event that was asked for; undefined when it is not there. */
  readonly knownLeaf: string | undefined
  /** The newest report that a part of this ledger is lost. */
  readonly loss: { readonly number: number; readonly seen: SeenEvent } | undefined
}

// A server that has vanished must not hide a promotion for as long as other queries may take.
const queryTimeoutMs = 3_000

/** Reads in one snapshot who the database is, where its ledger ends and which loss it has on record. */
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

// node-postgres reads it; its types do not name it.
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

// SHA-256 in hex.
const leafHexLength = 64

export interface Loss extends SeenEvent {
  readonly reporter: string
}

/** Puts the loss on record for all instances. Reporting it twice is harmless. */
export async function reportLoss(runner: QueryRunner, { position, leafHash, reporter }: Loss): Promise<void> {
  assert(position > 0 && leafHash.length === leafHexLength, 'a loss is of an event with its leaf')
  await runner.query("select ledger.report_lost_history($1, decode($2, 'hex'), $3)", [position, leafHash, reporter])
}
