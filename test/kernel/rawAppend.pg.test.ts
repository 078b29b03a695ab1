import { fileURLToPath } from 'node:url'
import { systemClock } from '@tollbook/core/clock'
import { readDeclaration } from './declaration.ts'
import type { Item, Posting } from '@tollbook/ledger/item'
import { createMemoryLedger } from './memoryLedger.ts'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { arbitraryItems, seeded } from './arbitraryItems.ts'
import { findBroken } from './checkLedger.ts'
import { openPool } from './openKernel.ts'
import { callAppend, type ColumnName, columnNames, type Columns, type RawBatch, rawBatch } from './rawColumns.ts'
import { claim, event, fulfil, move, newSignature, release } from './sampleItems.ts'
import { sampleOf } from '../support/rounds.ts'

/*
 * `ledger.append_batch` alone, called with raw arrays, against the ledger in memory: whatever the columns say,
 * either the whole call is refused, or what was taken is what the model takes and the ledger is whole.
 */

const declaration = await readDeclaration(fileURLToPath(new URL('../../migrations/kinds', import.meta.url)))

/** A separate ledger for each test, because each has a separate model. */
async function openLedger() {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  return { service: openPool(serviceUrl, 1), admin: openPool(adminUrl, 1) }
}

type Damage = (columns: Columns, name: ColumnName, random: () => number) => Columns

function replaced(columns: Columns, name: ColumnName, cells: Columns[ColumnName]): Columns {
  return { ...columns, [name]: cells }
}

function nudged(by: number): Damage {
  return (columns, name, random) => {
    const at = Math.floor(random() * columns[name].length)
    const cells = columns[name].map((cell, n) => {
      if (n !== at) return cell
      if (typeof cell === 'number') return cell + by
      return typeof cell === 'bigint' ? cell + BigInt(by) : cell
    })
    return replaced(columns, name, cells)
  }
}

/** The sum stays the same, so a check of sums alone does not notice. */
const shifted: Damage = (columns, name, random) => {
  const cells = columns[name]
  const from = Math.floor(random() * cells.length)
  const to = (from + 1 + Math.floor(random() * Math.max(1, cells.length - 1))) % cells.length
  const [less, more] = [cells[from], cells[to]]
  return typeof less === 'number' && typeof more === 'number' && from !== to
    ? replaced(columns, name, cells.with(from, less - 1).with(to, more + 1))
    : columns
}

const damages: Readonly<Record<string, Damage>> = {
  'the last line is missing': (columns, name) => replaced(columns, name, columns[name].slice(0, -1)),
  'a line is there twice': (columns, name, random) => {
    const at = Math.floor(random() * columns[name].length)
    return replaced(columns, name, columns[name].toSpliced(at, 0, ...columns[name].slice(at, at + 1)))
  },
  'two lines are swapped': (columns, name) => replaced(columns, name, columns[name].toReversed()),
  'a value is null': (columns, name, random) =>
    replaced(columns, name, columns[name].with(Math.floor(random() * columns[name].length), null)),
  'a value is another one of its column': (columns, name, random) =>
    replaced(columns, name, columns[name].with(Math.floor(random() * columns[name].length), columns[name][0] ?? null)),
  'a number is one more': nudged(1),
  'a number is one less': nudged(-1),
  'a number is one less and another one more': shifted,
  'a number is far away': nudged(10_000),
  'a number is far below': nudged(-10_000),
}

/** The items that the columns describe, read strictly. Undefined where they describe none. */
function itemsOf({ columns, bodies }: RawBatch): readonly Item[] | undefined {
  const at = (name: ColumnName, n: number) => columns[name][n]
  const number = (name: ColumnName, n: number) => Number(at(name, n) ?? NaN)
  const text = (name: ColumnName, n: number) => String(at(name, n) ?? 0)
  const postingOf = (n: number): Posting => {
    const [debit, credit] = [number('debits', n) - 1, number('credits', n) - 1]
    const [mint, other] = [text('account_mints', debit), text('account_mints', credit)]
    // Two mints in one posting: no class of accounts allows the move.
    const names = mint === other ? text('account_names', debit) : 'No:Such:Account'
    return { debit: names, credit: text('account_names', credit), mint, amountBaseUnits: BigInt(text('amounts', n)) }
  }
  const items: Item[] = []
  for (const [index, id] of columns.ids.entries()) {
    const [first, count] = [number('first_events', index) - 1, number('event_counts', index)]
    if (!(id instanceof Buffer) || !(first >= 0) || !(count > 0)) return undefined
    const events = Array.from({ length: count }, (_, n) => {
      const e = first + n
      const [start, postings] = [number('posting_starts', e), number('posting_counts', e)]
      const body = bodies.subarray(number('event_starts', e), number('event_starts', e) + number('event_lengths', e))
      return {
        ...event(text('event_kinds', e), ...Array.from({ length: postings }, (__, p) => postingOf(start + p))),
        body,
      }
    })
    const keys = columns.key_items.flatMap((item, n) => (item === index + 1 ? [keyOf(columns, n)] : []))
    const leaseMs = at('leases_ms', index)
    items.push({
      stream: id,
      step: text('steps', index),
      expectedVersion: number('expected', index),
      events,
      ...(typeof leaseMs === 'number' ? { leaseMs } : {}),
      ...(keys.length === 0 ? {} : { keys }),
    })
  }
  return items
}

function keyOf(columns: Columns, n: number) {
  const [key, digest, lifetimeSeconds] = [columns.key_values[n], columns.key_digests[n], columns.key_lives_s[n]]
  return {
    space: Number(columns.key_spaces[n]),
    key: key instanceof Buffer ? key : Buffer.alloc(0),
    ...(digest instanceof Buffer ? { digest } : {}),
    ...(typeof lifetimeSeconds === 'number' ? { lifetimeSeconds } : {}),
  }
}

/** Up to three items of different streams, and one that is good. */
function drawBatch(next: () => Item): RawBatch {
  const streams = new Set<string>()
  const items = Array.from({ length: 3 }, next).filter(({ stream, step, guards }) => {
    const key = Buffer.from(stream).toString('hex')
    const isNew = !streams.has(key) && guards === undefined && step.startsWith('payment.')
    streams.add(key)
    return isNew
  })
  return rawBatch([...items, claim(newSignature())])
}

const calls = 120

test.for(sampleOf([5, 6]))(
  'of damaged columns nothing is taken that the model does not take, and the ledger stays whole, from seed %i',
  async (seed) => {
    const { service, admin } = await openLedger()
    const random = seeded(seed)
    const next = arbitraryItems(random)
    const memory = createMemoryLedger({ declaration, clock: systemClock })
    const outcomes = { refused: 0, taken: 0, thrown: 0 }
    const names = Object.keys(damages)
    for (let round = 0; round < calls; round++) {
      const whole = drawBatch(next)
      const filled = columnNames.filter((name) => whole.columns[name].length > 0)
      const name = filled[Math.floor(random() * filled.length)] ?? 'ids'
      const damage = names[round % (names.length + 1)] ?? 'none'
      const columns = damages[damage]?.(whole.columns, name, random) ?? whole.columns
      const batch = { ...whole, columns }
      const verdicts = await callAppend(service, batch).catch((error: unknown) => String(error))
      if (typeof verdicts === 'string') {
        expect(verdicts).toMatch(
          /fit together|null|subscript|out of range|substring|array|duplicate|different|violates/,
        )
        outcomes.thrown++
        continue
      }
      const described = itemsOf(batch)
      for (const [index, verdict] of verdicts.entries()) {
        if (verdict !== undefined) {
          outcomes.refused++
          continue
        }
        outcomes.taken++
        const item = described?.[index]
        const where = `${damage} in ${name}, item ${index + 1} of round ${round}`
        expect(item, where).toBeDefined()
        if (item !== undefined) expect(await memory.append(item), where).toMatchObject({ outcome: 'appended' })
      }
    }
    expect(outcomes.thrown).toBeGreaterThan(15)
    expect(outcomes.refused).toBeGreaterThan(15)
    expect(outcomes.taken).toBeGreaterThan(15)
    expect(await findBroken(admin)).toEqual([])
    for (const [account, balance] of memory.balances()) {
      const [mint = '', ...words] = account.split(' ')
      const { rows } = await admin.query<{ balance: string }>(
        'select balance from ledger.accounts where mint = $1 and name = $2',
        [mint, words.join(' ')],
      )
      expect(BigInt(rows[0]?.balance ?? 0), account).toBe(balance)
    }
  },
)

test('of several items of one stream in a batch only the first that can be taken is taken', async () => {
  const { service, admin } = await openLedger()
  const [fresh, other] = [newSignature(), newSignature()]
  const batch = [claim(fresh), claim(fresh), fulfil(fresh, 3), claim(other), release(other, 3)]
  expect(await callAppend(service, rawBatch(batch))).toEqual([undefined, 'conflict', 'conflict', undefined, 'conflict'])
  const wrong = { ...claim(fresh), expectedVersion: 7 }
  expect(await callAppend(service, rawBatch([wrong, fulfil(fresh, 3)]))).toEqual(['conflict', undefined])
  expect(await findBroken(admin)).toEqual([])
})

test('a posting that belongs to another item or to no item moves nothing', async () => {
  const { service, admin } = await openLedger()
  const { columns, bodies } = rawBatch([claim(newSignature()), claim(newSignature())])
  for (const posting_items of [
    columns.posting_items.toReversed(),
    columns.posting_items.map(() => 1),
    columns.posting_items.map(() => 9),
  ]) {
    const verdicts = await callAppend(service, { columns: { ...columns, posting_items }, bodies }).catch(() => [
      'thrown',
    ])
    expect(
      verdicts.filter((verdict) => verdict === undefined),
      JSON.stringify(posting_items),
    ).toEqual([])
  }
  const apart = rawBatch([
    {
      ...claim(newSignature()),
      events: [event('PaymentVerified', move('Assets:PaymentWallet', 'Liabilities:Unearned', 5n))],
    },
  ])
  expect(await callAppend(service, apart)).not.toEqual([undefined])
  expect(await findBroken(admin)).toEqual([])
})

test('a key, a guard or a note of an item that is not there refuses the whole call', async () => {
  const { service, admin } = await openLedger()
  const key = { space: 10, key: Buffer.from('k'), digest: Buffer.from('d'), lifetimeSeconds: 60 }
  await callAppend(service, rawBatch([{ ...claim(newSignature()), keys: [key] }]))
  const whole = rawBatch([{ ...claim(newSignature()), keys: [key] }])
  for (const item of [-9, 0, 2, null]) {
    const columns = { ...whole.columns, key_items: [item] }
    await expect(callAppend(service, { ...whole, columns }), String(item)).rejects.toThrow('fit together')
  }
  expect(await callAppend(service, whole)).toEqual(['key_used'])
  expect(await findBroken(admin)).toEqual([])
})

test('the time of the ledger follows the rule for every clock, and never goes back', async () => {
  const { admin } = await openLedger()
  const random = seeded(9)
  for (let round = 0; round < 200; round++) {
    const [aheadMs, passedMs] = [Math.floor(random() * 4_000) - 2_000, Math.floor(random() * 2_000) - 500]
    const { rows } = await admin.query<{ aheadMs: number; gainedMs: number }>(
      `select extract(epoch from t.next_time - d.ledger)::float8 * 1000 as "gainedMs",
        extract(epoch from d.ledger - now.at)::float8 * 1000 as "aheadMs"
      from (select date_trunc('milliseconds', clock_timestamp()) as at) now,
        lateral (select now.at + $1 * interval '1 ms' as ledger, now.at - $2 * interval '1 ms' as before) d,
        lateral ledger.next_time(d.ledger, d.before) t`,
      [aheadMs, passedMs],
    )
    const gainedMs = rows[0]?.gainedMs ?? NaN
    expect(gainedMs, `ahead ${aheadMs}, passed ${passedMs}`).toBeGreaterThanOrEqual(0)
    // A few milliseconds pass inside the statement.
    const wantedMs = aheadMs <= 0 ? -aheadMs : passedMs < 2 ? 0 : Math.floor(passedMs / 2)
    expect(gainedMs - wantedMs, `ahead ${aheadMs}, passed ${passedMs}`).toBeGreaterThanOrEqual(0)
    if (aheadMs > 100) expect(gainedMs).toBeLessThanOrEqual(Math.max(0, passedMs) / 2 + aheadMs)
  }
})
