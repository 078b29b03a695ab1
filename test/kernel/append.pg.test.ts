import { assertPresent } from '@tollbook/core/assert'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import { appendCall, appendValues } from '@tollbook/ledger/batch'
import type { AppendResult, Item } from '@tollbook/ledger/item'
import { beforeAll, describe, expect, test } from 'vitest'
import { addEvents } from '../store/addEvents.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import { findBroken } from './checkLedger.ts'
import { openKernel, openPool } from './openKernel.ts'
import * as sample from './sampleItems.ts'
import { closeTab, debitTab, newTab, openTab, requestId, tabDeclaration } from './tab.ts'

const { serviceUrl, adminUrl, ownerUrl } = await createTestDatabase()
const pool = openPool(serviceUrl)
const admin = openPool(adminUrl, 1)
const ledger = openKernel(pool)
const { claim, fulfil, newSignature, priceList, release } = sample

beforeAll(() => openPool(ownerUrl, 1).query(tabDeclaration))

function reasonOf(result: AppendResult): string {
  return result.outcome === 'appended' ? 'appended' : result.refusal.reason
}

const reasonsOf = async (items: readonly Item[]) => (await appendBatch(pool, items)).map(reasonOf)

describe('one stream', () => {
  test('is claimed once and fulfilled once, and its events are read back in order (I1, I3)', async () => {
    const stream = newSignature()
    const first = await ledger.append(claim(stream))
    expect(reasonOf(await ledger.append(claim(stream)))).toBe('conflict')
    expect(reasonOf(await ledger.append(fulfil(stream, 3)))).toBe('appended')
    expect(reasonOf(await ledger.append(fulfil(stream, 3)))).toBe('conflict')
    expect(reasonOf(await ledger.append(fulfil(stream, 5)))).toBe('conflict')
    const events = await ledger.read(stream)
    expect(events.map(({ kind, version }) => `${version} ${kind}`)).toEqual([
      '1 PaymentVerified',
      '2 TokensBurned',
      '3 ProofClaimed',
      '4 RequestFulfilled',
      '5 DistributionAllocated',
    ])
    const leaves = events.slice(0, 3).map(({ position, leafHash }) => ({ position, leafHash }))
    expect(first).toMatchObject({ outcome: 'appended', leaves, recordedAtMs: events[0]?.recordedAtMs })
  })

  test('has its leaf hashes in a database that writes bytes as escapes', async () => {
    const url = new URL(serviceUrl)
    url.searchParams.set('options', '-c bytea_output=escape')
    const stream = newSignature()
    const appended = await openKernel(openPool(url.href, 1)).append(claim(stream))
    const leaves = (await ledger.read(stream)).map(({ position, leafHash }) => ({ position, leafHash }))
    expect(appended).toMatchObject({ outcome: 'appended', leaves })
  })

  test('is taken over only when the lease has ended by the clock of the database (I3)', async () => {
    const stream = newSignature()
    const { leaseMs: _short, ...rest } = { ...claim(stream) }
    expect(reasonOf(await ledger.append({ ...rest, leaseMs: 1 }))).toBe('appended')
    const takeOver = (expectedVersion: number): Item => ({
      stream,
      step: 'payment.claim',
      expectedVersion,
      leaseMs: 60_000,
      events: [
        sample.event('RequestFailed', sample.move('Memo:ExposedContra', 'Memo:Exposed', 1000n)),
        sample.event('ProofClaimed', sample.move('Memo:Exposed', 'Memo:ExposedContra', 1000n)),
      ],
    })
    await awaitThat('the lease has ended', async () => {
      const ended = 'select lease_until < clock_timestamp() as ended from ledger.streams where id = $1'
      return (await pool.query<{ ended: boolean }>(ended, [Buffer.from(stream)])).rows[0]?.ended
    })
    expect(reasonOf(await ledger.append(takeOver(3)))).toBe('appended')
    expect(reasonOf(await ledger.append(takeOver(5)))).toBe('conflict')
  })

  test('that does not exist has no events', async () => {
    expect(await ledger.read(newSignature())).toEqual([])
    expect(await ledger.readMany([newSignature(), newSignature()])).toEqual([[], []])
    expect(await ledger.readMany([])).toEqual([])
  })
})

describe('in one batch', () => {
  test('a refused item costs its neighbours nothing, and positions stay gapless (I22)', async () => {
    const used = newSignature()
    await ledger.append(claim(used))
    const wrong = sample.event('PaymentVerified', sample.move('Assets:PaymentWallet', 'Liabilities:Share:provider', 5n))
    const overreaching = claim(newSignature())
    const items = [
      claim(newSignature()),
      claim(used),
      { ...overreaching, events: [wrong, ...overreaching.events.slice(1)] },
      claim(newSignature()),
      release(used, 3),
    ]
    expect(await reasonsOf(items)).toEqual(['appended', 'conflict', 'overreaching', 'appended', 'appended'])
    expect(await findBroken(admin)).toEqual([])
  })

  test('of two items of one stream the second is a conflict (I1)', async () => {
    const stream = newSignature()
    expect(await reasonsOf([claim(stream), claim(stream), claim(newSignature())])).toEqual([
      'appended',
      'conflict',
      'appended',
    ])
  })

  test('an item that the database cannot take fails alone; the others are appended', async () => {
    const tooLong = { ...sample.event('ProofClaimed'), body: Buffer.alloc(70_000, 32) }
    const bad = claim(newSignature())
    const items = [
      claim(newSignature()),
      { ...bad, events: [...bad.events.slice(0, 2), tooLong] },
      claim(newSignature()),
    ]
    const settled = await Promise.allSettled(items.map((item) => ledger.append(item)))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(settled[1]).toMatchObject({ reason: { name: 'Fault', retryable: false, message: /rejected an append/ } })
  })

  test('a guard on a stream that an earlier item moves is refused: a closed tab wins every race', async () => {
    const tab = newTab()
    await ledger.append(openTab(tab, { deposit: 1000n }))
    const items = [closeTab(tab, { deposit: 1000n }), debitTab(tab, { number: 1, price: 1n })]
    expect(await reasonsOf(items)).toEqual(['appended', 'guard'])
    expect(reasonOf(await ledger.append(debitTab(tab, { number: 1, price: 1n })))).toBe('guard')
    expect(await ledger.read(requestId(tab, 1))).toEqual([])
  })
})

test('a batch that opens an account uses up one number, however many other accounts it moves', async () => {
  const newest = async () => {
    const { rows } = await admin.query<{ id: number }>('select max(id) as id from ledger.accounts')
    return assertPresent(rows[0], 'a maximum is one row').id
  }
  const overpaid = (name: string): Item => {
    const { events, ...item } = claim(newSignature())
    const [verified, ...others] = events
    const { postings, ...rest } = assertPresent(verified, 'a claim verifies')
    const more = sample.move('Assets:PaymentWallet', `Liabilities:Overpaid:${name}`, 1n)
    return { ...item, events: [{ ...rest, postings: [...postings, more] }, ...others] }
  }
  await ledger.append(overpaid('first'))
  const before = await newest()
  await ledger.append(overpaid('second'))
  await ledger.append(overpaid('third'))
  expect(await newest()).toBe(before + 2)
})

describe('keys', () => {
  const keyed = (stream: Uint8Array, digest: number, lifetimeSeconds?: number): Item => ({
    ...claim(stream),
    keys: [
      {
        space: 10,
        key: Buffer.from('wallet key'),
        digest: Uint8Array.of(digest),
        ...(lifetimeSeconds === undefined ? {} : { lifetimeSeconds }),
      },
    ],
  })

  test('a key stands for one stream and one digest, also within a batch (I5)', async () => {
    const stream = newSignature()
    expect(await reasonsOf([keyed(stream, 1), keyed(newSignature(), 1)])).toEqual(['appended', 'key_used'])
    expect(await reasonsOf([keyed(newSignature(), 1)])).toEqual(['key_used'])
    const again: Item = {
      ...release(stream, 3),
      keys: [{ space: 10, key: Buffer.from('wallet key'), digest: Uint8Array.of(2) }],
    }
    expect(await reasonsOf([again])).toEqual(['key_used'])
    expect(await reasonsOf([{ ...again, keys: keyed(stream, 1).keys ?? [] }])).toEqual(['appended'])
  })

  test('a stream uses its key again after an item of the same batch that wanted the key and is refused', async () => {
    const [stream, key] = [newSignature(), { space: 10, key: Buffer.from('own'), digest: Uint8Array.of(1) }]
    expect(await reasonsOf([{ ...claim(stream), keys: [key] }])).toEqual(['appended'])
    const own = { ...release(stream, 3), keys: [key] }
    expect(await reasonsOf([{ ...claim(newSignature()), keys: [key] }, own])).toEqual(['key_used', 'appended'])
  })

  test('a key that has ended is free again, and the housekeeping deletes it with notes of a day ago', async () => {
    const key = { space: 12, key: Buffer.from('short'), digest: Uint8Array.of(1), lifetimeSeconds: 0 }
    expect(await reasonsOf([{ ...claim(newSignature()), keys: [key] }])).toEqual(['appended'])
    expect(await reasonsOf([{ ...claim(newSignature()), keys: [key] }])).toEqual(['appended'])
    await pool.query('select ledger.forget_old_notes()')
    const { rows } = await pool.query<{ left: number }>(
      'select count(*)::int as left from ledger.keys where space = 12',
    )
    expect(rows).toEqual([{ left: 0 }])
  })

  test('the first note of a stream stays, and a refused item leaves none', async () => {
    const stream = newSignature()
    await ledger.append({ ...claim(stream), note: Buffer.from('first') })
    await ledger.append({ ...fulfil(stream, 3), note: Buffer.from('second') })
    const refused = newSignature()
    await ledger.append({ ...fulfil(refused, 3), note: Buffer.from('never') })
    const { rows } = await pool.query<{ note: string }>(
      "select convert_from(note, 'UTF8') as note from ledger.notes where id = any($1)",
      [[Buffer.from(stream), Buffer.from(refused)]],
    )
    expect(rows).toEqual([{ note: 'first' }])
  })
})

describe('settings', () => {
  test('numbers are gapless, each is written once, and the one in force is found by time (I25)', async () => {
    expect(await reasonsOf([priceList(2, 0)])).toEqual(['guard'])
    expect(await reasonsOf([priceList(1)])).toEqual(['appended'])
    expect(await reasonsOf([priceList(1)])).toEqual(['conflict'])
    expect(await reasonsOf([{ ...priceList(3), guards: [] }])).toEqual(['guard'])
    expect(await reasonsOf([priceList(2)])).toEqual(['appended'])
    const at = async (time: string) =>
      (await pool.query<{ number: number }>("select number from ledger.setting_at('prices', $1)", [time])).rows
    expect(await at('2026-11-22T03:30:00Z')).toEqual([{ number: 2 }])
    expect(await at('2020-01-01T00:00:00Z')).toEqual([{ number: 1 }])
  })

  test('a price list has the name of one, and the service records only the first value of a setting (I25)', async () => {
    const listOf = (text: string): Item => ({ ...priceList(1), stream: sample.settingId(text) })
    expect(await reasonsOf([listOf('receipt-key#1'), listOf('prices#0'), listOf('prices#1x')])).toEqual([
      'not_this_id',
      'not_this_id',
      'not_this_id',
    ])
    const setting = (text: string): Item => ({
      stream: sample.settingId(text),
      step: 'setting.record',
      expectedVersion: 0,
      events: [sample.event('SettingChanged')],
    })
    expect(await reasonsOf([setting('receipt-key#2')])).toEqual(['not_this_id'])
    expect(await reasonsOf([setting('receipt-key#1')])).toEqual(['appended'])
    expect(await reasonsOf([setting('receipt-key#2')])).toEqual(['not_this_id'])
  })
})

test('columns that do not fit together are rejected as a whole, whatever they would move (I17, I22)', async () => {
  const names = [...appendCall.text.matchAll(/(\w+) => \$\d+/g)].map(([, name]) => name)
  const tampered = async (name: string, values: Buffer) => {
    const parameters: (Buffer | number)[] = appendValues([claim(newSignature()), claim(newSignature())])
    parameters[names.indexOf(name)] = values
    return pool.query({ text: appendCall.text, values: parameters })
  }
  const valuesOf = (name: string, items: readonly Item[]): Buffer => {
    const value = assertPresent(appendValues(items)[names.indexOf(name)], 'the call has this column')
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
  }
  const one = [claim(newSignature())]
  const three = [...one, claim(newSignature()), claim(newSignature())]
  const before = await findBroken(admin)
  for (const name of ['event_counts', 'first_events', 'event_items', 'posting_counts'])
    for (const items of [one, three])
      await expect(tampered(name, valuesOf(name, items)), `${name} of ${items.length} items`).rejects.toMatchObject({
        code: expect.stringMatching(/^22/),
      })
  // An event of the first item that says it belongs to the second.
  const swapped = valuesOf('event_items', [claim(newSignature()), claim(newSignature())])
  swapped.writeInt32BE(2, 20 + 4)
  await expect(tampered('event_items', swapped)).rejects.toMatchObject({ code: expect.stringMatching(/^22/) })
  expect(await findBroken(admin)).toEqual(before)
})

test('a stream of more than two thousand events is read whole, and one that lacks an event is not read at all', async () => {
  const [stream, count] = [newSignature(), 2_100]
  await ledger.drained()
  const { rows } = await admin.query<{ seq: number }>('select seq::int from ledger.head')
  const first = assertPresent(rows[0], 'the ledger has a head').seq + 1
  await addEvents(admin, count)
  const adds = async (version: number) => {
    await admin.query(
      `insert into ledger.streams (id, stream, kind, state, version, seqs)
       values ($1, $2::bigint, 'payment', 'released', $3, int8multirange(int8range($2::bigint, $2::bigint + $4::integer)))
       on conflict (id) do update set version = excluded.version`,
      [stream, first, version, count],
    )
  }
  await admin.query(`set ledger.writing = 'on'`)
  await adds(count + 1)
  await expect(ledger.read(stream)).rejects.toMatchObject({
    cause: { message: `a stream of ${count + 1} events was read as ${count}` },
  })
  await adds(count)
  await admin.query('reset ledger.writing')
  expect(await ledger.read(stream)).toHaveLength(count)
})

test('after all of this the ledger is sound (I17, I22)', async () => {
  await ledger.drained()
  expect(await findBroken(admin)).toEqual([])
})
