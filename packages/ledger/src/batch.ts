import { assert } from '@tollbook/core/assert'
import type { KnownHistory } from './history.ts'
import type { Item, ItemEvent } from './item.ts'
import { byteaArray, int2Array, int4Array, int8Array, numericArray, textArray } from './wire.ts'

/** Creates the columns in the order of the call. The migration of `ledger.batch` explains them. */
function emptyColumns() {
  return {
    ids: column(byteaArray),
    steps: column(textArray),
    expected: column(int4Array),
    leases_ms: column(int4Array),
    event_counts: column(int4Array),
    first_events: column(int4Array),
    event_items: column(int4Array),
    event_kinds: column(textArray),
    event_schemas: column(int2Array),
    event_times_ms: column(int8Array),
    event_starts: column(int4Array),
    event_lengths: column(int4Array),
    posting_starts: column(int4Array),
    posting_counts: column(int4Array),
    account_mints: column(textArray),
    account_names: column(textArray),
    posting_items: column(int4Array),
    posting_events: column(int4Array),
    debits: column(int4Array),
    credits: column(int4Array),
    amounts: column(numericArray),
    guard_items: column(int4Array),
    guard_ids: column(byteaArray),
    guard_versions: column(int4Array),
    key_items: column(int4Array),
    key_spaces: column(int2Array),
    key_values: column(byteaArray),
    key_digests: column(byteaArray),
    key_lives_s: column(int4Array),
    note_items: column(int4Array),
    note_values: column(byteaArray),
  }
}

function column<T>(encode: (values: readonly T[]) => Buffer) {
  const values: T[] = []
  return {
    push(value: T): void {
      values.push(value)
    },
    length: () => values.length,
    encode: () => encode(values),
  }
}

const names = [...Object.keys(emptyColumns()), 'bodies']
const historyNames = ['known_seq', 'known_leaf', 'known_timeline']
const parameters = [...names, ...historyNames].map((name, index) => `${name} => $${index + 1}`)
export const appendParameters = parameters.length

/** The text does not depend on the batch, so that it can be a prepared statement. */
export const appendCall = {
  name: 'ledger_append',
  text: `select (extract(epoch from recorded_at) * 1000)::bigint, first_position, refusals, encode(leaf_hashes, 'hex')
    from ledger.append_batch(${parameters.join(', ')})`,
}

/** Returns the parameters of `appendCall` in the order of the call. */
export function appendValues(
  items: readonly Item[],
  { newest, timeline }: KnownHistory = unknownHistory,
): (Buffer | number)[] {
  assert(items.length > 0, 'a batch has at least one item')
  const columns = emptyColumns()
  const batch: Batch = { columns, accounts: new Map(), bodies: [], bodyBytes: 0 }
  for (const [index, item] of items.entries()) addItem(batch, item, index + 1)
  const encoded = Object.values(columns).map((one) => one.encode())
  const history = [newest?.position ?? 0, Buffer.from(newest?.leafHash ?? '', 'hex'), timeline ?? 0]
  return [...encoded, Buffer.concat(batch.bodies, batch.bodyBytes), ...history]
}

const unknownHistory: KnownHistory = { newest: undefined, timeline: undefined }

type Columns = ReturnType<typeof emptyColumns>

interface Batch {
  readonly columns: Columns
  readonly accounts: Map<string, Map<string, number>>
  readonly bodies: Uint8Array[]
  bodyBytes: number
}

function addItem(batch: Batch, item: Item, number: number): void {
  assert(item.events.length > 0, 'an append has at least one event')
  assert(item.expectedVersion >= 0, 'an append is decided on a version')
  const { columns } = batch
  columns.ids.push(item.stream)
  columns.steps.push(item.step)
  columns.expected.push(item.expectedVersion)
  columns.leases_ms.push(item.leaseMs)
  columns.event_counts.push(item.events.length)
  columns.first_events.push(columns.event_items.length() + 1)
  for (const event of item.events) addEvent(batch, event, number)
  for (const { stream, version } of item.guards ?? []) {
    columns.guard_items.push(number)
    columns.guard_ids.push(stream)
    columns.guard_versions.push(version)
  }
  for (const { space, key, digest, lifetimeSeconds } of item.keys ?? []) {
    columns.key_items.push(number)
    columns.key_spaces.push(space)
    columns.key_values.push(key)
    columns.key_digests.push(digest)
    columns.key_lives_s.push(lifetimeSeconds)
  }
  if (item.note !== undefined) {
    columns.note_items.push(number)
    columns.note_values.push(item.note)
  }
}

function addEvent(batch: Batch, event: ItemEvent, item: number): void {
  const { columns } = batch
  columns.event_items.push(item)
  columns.event_kinds.push(event.kind)
  columns.event_schemas.push(event.schemaVersion)
  columns.event_times_ms.push(event.effectiveAtMs)
  columns.event_starts.push(batch.bodyBytes)
  columns.event_lengths.push(event.body.length)
  columns.posting_starts.push(columns.posting_items.length())
  columns.posting_counts.push(event.postings.length)
  batch.bodies.push(event.body)
  batch.bodyBytes += event.body.length
  const eventNumber = columns.event_items.length()
  for (const { debit, credit, mint, amountBaseUnits } of event.postings) {
    assert(debit !== credit, 'a posting moves money between two accounts')
    columns.posting_items.push(item)
    columns.posting_events.push(eventNumber)
    columns.debits.push(accountNumber(batch, mint, debit))
    columns.credits.push(accountNumber(batch, mint, credit))
    columns.amounts.push(amountBaseUnits)
  }
}

function accountNumber({ columns, accounts }: Batch, mint: string, name: string): number {
  const ofMint = accounts.get(mint) ?? new Map<string, number>()
  accounts.set(mint, ofMint)
  const known = ofMint.get(name)
  if (known !== undefined) return known
  columns.account_mints.push(mint)
  columns.account_names.push(name)
  ofMint.set(name, columns.account_names.length())
  return columns.account_names.length()
}
