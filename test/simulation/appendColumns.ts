import { assertPresent } from '@tollbook/core/assert'
import { appendCall } from '@tollbook/ledger/batch'
import type { Guard, Item, ItemEvent, ItemKey, Posting } from '@tollbook/ledger/item'

/*
 * The columns of a call of `ledger.append_batch`, read back into items: what a server reads, written independently of
 * the code that writes it.
 */

const names = [...appendCall.text.matchAll(/(\w+) => \$\d+/g)].map(([, name]) => name)

/** The items of a call, from its parameters in the order of `appendCall`. */
export function itemsOfCall(values: readonly unknown[]): readonly Item[] {
  const column = (name: string): Buffer => {
    const value = values[names.indexOf(name)]
    return assertPresent(Buffer.isBuffer(value) ? value : undefined, `the call has the column ${name}`)
  }
  const read = <T>(name: string, element: (bytes: Buffer) => T) => elements(column(name)).map(nullable(element))
  const dense = <T>(name: string, element: (bytes: Buffer) => T) =>
    read(name, element).map((value) => assertPresent(value, `${name} has no null`))
  const bodies = column('bodies')
  const [mints, accounts] = [dense('account_mints', text), dense('account_names', text)]
  const [debits, credits, amounts] = [dense('debits', int4), dense('credits', int4), dense('amounts', numeric)]
  const postings = debits.map((debit, n): Posting => ({
    debit: accounts[debit - 1] ?? '',
    credit: accounts[(credits[n] ?? 0) - 1] ?? '',
    mint: mints[debit - 1] ?? '',
    amountBaseUnits: amounts[n] ?? 0n,
  }))
  const kinds = dense('event_kinds', text)
  const [schemas, times] = [dense('event_schemas', int2), dense('event_times_ms', int8)]
  const [starts, lengths] = [dense('event_starts', int4), dense('event_lengths', int4)]
  const [postingStarts, postingCounts] = [dense('posting_starts', int4), dense('posting_counts', int4)]
  const events = kinds.map((kind, n): ItemEvent => {
    const [start, from] = [starts[n] ?? 0, postingStarts[n] ?? 0]
    return {
      kind,
      schemaVersion: schemas[n] ?? 0,
      effectiveAtMs: times[n] ?? 0,
      body: Buffer.from(bodies.subarray(start, start + (lengths[n] ?? 0))),
      postings: postings.slice(from, from + (postingCounts[n] ?? 0)),
    }
  })
  const guards = grouped<Guard>(dense('guard_items', int4), (n) => ({
    stream: assertPresent(dense('guard_ids', bytes)[n], 'a guard names a stream'),
    version: assertPresent(dense('guard_versions', int4)[n], 'a guard names a version'),
  }))
  const [keySpaces, keyValues] = [dense('key_spaces', int2), dense('key_values', bytes)]
  const [digests, lives] = [read('key_digests', bytes), read('key_lives_s', int4)]
  const keys = grouped<ItemKey>(dense('key_items', int4), (n) => ({
    space: keySpaces[n] ?? 0,
    key: assertPresent(keyValues[n], 'a key has bytes'),
    ...(digests[n] === undefined ? {} : { digest: digests[n] }),
    ...(lives[n] === undefined ? {} : { lifetimeSeconds: lives[n] }),
  }))
  const noteValues = dense('note_values', bytes)
  const notes = grouped<Buffer>(dense('note_items', int4), (n) => assertPresent(noteValues[n], 'a note has bytes'))
  const leases = read('leases_ms', int4)
  const [steps, expected] = [dense('steps', text), dense('expected', int4)]
  const [counts, firsts] = [dense('event_counts', int4), dense('first_events', int4)]
  return dense('ids', bytes).map((stream, n): Item => {
    const first = (firsts[n] ?? 1) - 1
    const note = notes.get(n + 1)?.[0]
    return {
      stream,
      step: steps[n] ?? '',
      expectedVersion: expected[n] ?? 0,
      events: events.slice(first, first + (counts[n] ?? 0)),
      ...(leases[n] === undefined ? {} : { leaseMs: leases[n] }),
      guards: guards.get(n + 1) ?? [],
      keys: keys.get(n + 1) ?? [],
      ...(note === undefined ? {} : { note }),
    }
  })
}

function grouped<T>(items: readonly number[], valueOf: (n: number) => T): ReadonlyMap<number, readonly T[]> {
  const found = new Map<number, T[]>()
  for (const [n, item] of items.entries()) found.set(item, [...(found.get(item) ?? []), valueOf(n)])
  return found
}

const headerBytes = 20

/** The elements of a one-dimensional array in the binary format; undefined where it has a null. */
export function elements(array: Buffer): readonly (Buffer | undefined)[] {
  if (array.readInt32BE(0) === 0) return []
  const found: (Buffer | undefined)[] = []
  let at = headerBytes
  for (let n = array.readInt32BE(12); n > 0; n--) {
    const length = array.readInt32BE(at)
    at += 4
    found.push(length < 0 ? undefined : array.subarray(at, at + length))
    at += Math.max(0, length)
  }
  return found
}

function nullable<T>(read: (bytes: Buffer) => T) {
  return (bytes: Buffer | undefined): T | undefined => (bytes === undefined ? undefined : read(bytes))
}

const text = (bytes: Buffer) => bytes.toString('utf8')
const bytes = (value: Buffer) => Buffer.from(value)
const int2 = (value: Buffer) => value.readInt16BE(0)
const int4 = (value: Buffer) => value.readInt32BE(0)
const int8 = (value: Buffer) => Number(value.readBigInt64BE(0))

const numericBase = 10_000n

function numeric(value: Buffer): bigint {
  const [count, weight, sign] = [value.readInt16BE(0), value.readInt16BE(2), value.readUInt16BE(4)]
  let sum = 0n
  for (let n = 0; n <= weight; n++) sum = sum * numericBase + BigInt(n < count ? value.readInt16BE(8 + 2 * n) : 0)
  return sign === 0 ? sum : -sum
}
