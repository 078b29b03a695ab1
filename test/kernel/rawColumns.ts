import { assertPresent } from '@tollbook/core/assert'
import type { Item, ItemEvent } from '@tollbook/ledger/item'
import type { QueryRunner } from '@tollbook/ledger/database'

/*
 * The call of `ledger.append_batch` as a hostile or broken client makes it: columns as plain arrays, without the queue,
 * the batches and the assertions of packages/ledger. Written from the comment of `ledger.batch`
 * (migrations/0003_ledger.sql) alone.
 */

type Cell = string | number | bigint | Buffer | null

const types = {
  ids: 'bytea',
  steps: 'text',
  expected: 'integer',
  leases_ms: 'integer',
  event_counts: 'integer',
  first_events: 'integer',
  event_items: 'integer',
  event_kinds: 'text',
  event_schemas: 'smallint',
  event_times_ms: 'bigint',
  event_starts: 'integer',
  event_lengths: 'integer',
  posting_starts: 'integer',
  posting_counts: 'integer',
  account_mints: 'text',
  account_names: 'text',
  posting_items: 'integer',
  posting_events: 'integer',
  debits: 'integer',
  credits: 'integer',
  amounts: 'numeric',
  guard_items: 'integer',
  guard_ids: 'bytea',
  guard_versions: 'integer',
  key_items: 'integer',
  key_spaces: 'smallint',
  key_values: 'bytea',
  key_digests: 'bytea',
  key_lives_s: 'integer',
  note_items: 'integer',
  note_values: 'bytea',
} as const

export type ColumnName = keyof typeof types
export type Columns = Readonly<Record<ColumnName, readonly Cell[]>>

export interface RawBatch {
  readonly columns: Columns
  readonly bodies: Buffer
}

function isColumnName(name: string): name is ColumnName {
  return name in types
}

export const columnNames: readonly ColumnName[] = Object.keys(types).filter(isColumnName)

function emptyColumns(): Record<ColumnName, Cell[]> {
  const list = (): Cell[] => []
  return {
    ids: list(),
    steps: list(),
    expected: list(),
    leases_ms: list(),
    event_counts: list(),
    first_events: list(),
    event_items: list(),
    event_kinds: list(),
    event_schemas: list(),
    event_times_ms: list(),
    event_starts: list(),
    event_lengths: list(),
    posting_starts: list(),
    posting_counts: list(),
    account_mints: list(),
    account_names: list(),
    posting_items: list(),
    posting_events: list(),
    debits: list(),
    credits: list(),
    amounts: list(),
    guard_items: list(),
    guard_ids: list(),
    guard_versions: list(),
    key_items: list(),
    key_spaces: list(),
    key_values: list(),
    key_digests: list(),
    key_lives_s: list(),
    note_items: list(),
    note_values: list(),
  }
}

export function rawBatch(items: readonly Item[]): RawBatch {
  const columns = emptyColumns()
  const bodies: Uint8Array[] = []
  for (const [index, item] of items.entries()) {
    const number = index + 1
    columns.ids.push(Buffer.from(item.stream))
    columns.steps.push(item.step)
    columns.expected.push(item.expectedVersion)
    columns.leases_ms.push(item.leaseMs ?? null)
    columns.event_counts.push(item.events.length)
    columns.first_events.push(columns.event_items.length + 1)
    for (const event of item.events) addEvent(columns, { event, bodies, number })
    for (const { stream, version } of item.guards ?? []) {
      columns.guard_items.push(number)
      columns.guard_ids.push(Buffer.from(stream))
      columns.guard_versions.push(version)
    }
    for (const { space, key, digest, lifetimeSeconds } of item.keys ?? []) {
      columns.key_items.push(number)
      columns.key_spaces.push(space)
      columns.key_values.push(Buffer.from(key))
      columns.key_digests.push(digest === undefined ? null : Buffer.from(digest))
      columns.key_lives_s.push(lifetimeSeconds ?? null)
    }
  }
  return { columns, bodies: Buffer.concat(bodies) }
}

interface Adding {
  readonly event: ItemEvent
  readonly bodies: Uint8Array[]
  readonly number: number
}

function addEvent(columns: Record<ColumnName, Cell[]>, { event, bodies, number }: Adding): void {
  columns.event_items.push(number)
  columns.event_kinds.push(event.kind)
  columns.event_schemas.push(event.schemaVersion)
  columns.event_times_ms.push(event.effectiveAtMs)
  columns.event_starts.push(bodies.reduce((sum, body) => sum + body.length, 0))
  columns.event_lengths.push(event.body.length)
  columns.posting_starts.push(columns.posting_items.length)
  columns.posting_counts.push(event.postings.length)
  bodies.push(event.body)
  for (const { debit, credit, mint, amountBaseUnits } of event.postings) {
    columns.posting_items.push(number)
    columns.posting_events.push(columns.event_items.length)
    for (const [side, name] of [
      ['debits', debit],
      ['credits', credit],
    ] as const) {
      // An account for each side of each posting would be refused: an account is named once in a batch.
      const known = columns.account_names.findIndex((each, n) => each === name && columns.account_mints[n] === mint)
      if (known === -1) {
        columns.account_mints.push(mint)
        columns.account_names.push(name)
      }
      columns[side].push(known === -1 ? columns.account_names.length : known + 1)
    }
    columns.amounts.push(amountBaseUnits)
  }
}

const call = `select refusals, recorded_at as "recordedAt", first_position::int as "firstPosition" from ledger.append_batch(${columnNames
  .map((name, n) => `${name} => $${n + 1}::${types[name]}[]`)
  .join(', ')}, bodies => $${columnNames.length + 1})`

export interface RawVerdicts {
  /** By item; `undefined` for one that was taken. */
  readonly verdicts: readonly (string | undefined)[]
  readonly recordedAtMs: number
}

/** Verdict of each item. Rejects where Postgres refuses the whole call. */
export async function callAppend(runner: QueryRunner, batch: RawBatch): Promise<RawVerdicts['verdicts']> {
  return (await callAppendAt(runner, batch)).verdicts
}

export async function callAppendAt(runner: QueryRunner, { columns, bodies }: RawBatch): Promise<RawVerdicts> {
  const values = [...columnNames.map((name) => columns[name]), bodies]
  const { rows } = await runner.query<{ refusals: (string | null)[] | null; recordedAt: Date }>({ text: call, values })
  const [row] = rows
  const recordedAtMs = assertPresent(row, 'an append returns a row').recordedAt.getTime()
  return { verdicts: columns.ids.map((_, index) => row?.refusals?.[index] ?? undefined), recordedAtMs }
}
