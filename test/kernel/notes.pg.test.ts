import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from '../store/instance.ts'
import { openKernel, openPool } from './openKernel.ts'
import * as sample from './sampleItems.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const pool = openPool(serviceUrl)
const admin = openPool(adminUrl, 2)
const ledger = openKernel(pool)
const { claim, newSignature } = sample

const key = (text: string) => [{ space: 10, key: Buffer.from(text), digest: Uint8Array.of(1), lifetimeSeconds: 60 }]

async function notesOf(streams: readonly Uint8Array[]) {
  const { rows } = await admin.query<{ note: string; sent: boolean }>(
    `select convert_from(note, 'UTF8') as note, sent_at is not null as sent from ledger.notes where id = any($1) order by note`,
    [streams.map((stream) => Buffer.from(stream))],
  )
  return rows
}

/** As the owner might, with the guard switched off. */
async function tamper(text: string, values: unknown[] = []): Promise<void> {
  const client = await admin.connect()
  await client.query("begin; set local ledger.writing = 'on'")
  await client.query(text, values)
  await client.query('commit')
  client.release()
}

describe('a note that was sent', () => {
  test('is deleted, unless its append brought a key: then it is marked and keeps its day', async () => {
    const [bare, keyed, waiting] = [newSignature(), newSignature(), newSignature()]
    await ledger.append({ ...claim(bare), note: Buffer.from('bare') })
    await ledger.append({ ...claim(keyed), note: Buffer.from('keyed'), keys: key('notes 1') })
    await ledger.append({ ...claim(waiting), note: Buffer.from('waiting') })
    await pool.query('select ledger.end_notes($1)', [[bare, keyed].map((stream) => Buffer.from(stream))])
    expect(await notesOf([bare, keyed, waiting])).toEqual([
      { note: 'keyed', sent: true },
      { note: 'waiting', sent: false },
    ])
  })

  test('and may be sent again is marked once, and deleted when its time is over, unless a key refers to it', async () => {
    const [bare, keyed, unsent] = [newSignature(), newSignature(), newSignature()]
    await ledger.append({ ...claim(bare), note: Buffer.from('bare') })
    await ledger.append({ ...claim(keyed), note: Buffer.from('keyed'), keys: key('notes 2') })
    await ledger.append({ ...claim(unsent), note: Buffer.from('unsent') })
    const all = [bare, keyed, unsent]
    const mark = (seconds: number) =>
      pool.query('select ledger.mark_notes($1, $2)', [[bare, keyed].map((stream) => Buffer.from(stream)), seconds])
    await mark(120)
    expect(await notesOf(all)).toEqual([
      { note: 'bare', sent: true },
      { note: 'keyed', sent: true },
      { note: 'unsent', sent: false },
    ])

    await tamper("update ledger.sent_notes set sent_at = now() - interval '121 seconds'")
    await mark(120)
    expect(await notesOf(all)).toEqual([
      { note: 'keyed', sent: true },
      { note: 'unsent', sent: false },
    ])
    expect((await admin.query('select from ledger.sent_notes')).rowCount).toBe(0)
  })

  test('is marked in its place, because a second copy of each answer was a quarter of the log', async () => {
    const streams = Array.from({ length: 32 }, newSignature)
    const note = Buffer.alloc(500, 'x')
    await Promise.all(streams.map((stream) => ledger.append({ ...claim(stream), note })))
    const session = await admin.connect()
    await session.query('begin')
    await session.query('select ledger.mark_notes($1, 120)', [streams.map((stream) => Buffer.from(stream))])
    const { rows } = await session.query<{ count: number }>(
      "select pg_stat_get_xact_tuples_hot_updated('ledger.notes'::regclass)::integer as count",
    )
    await session.query('commit')
    session.release()
    expect(rows).toEqual([{ count: streams.length }])
  })
})

describe('the housekeeping', () => {
  test('deletes sent notes beyond a bound before older ones that were not sent', async () => {
    await tamper('delete from ledger.notes')
    const [unsent, sent, newer] = [newSignature(), newSignature(), newSignature()]
    for (const [index, stream] of [unsent, sent, newer].entries())
      await ledger.append({ ...claim(stream), note: Buffer.from(`note ${index}`) })
    await pool.query('select ledger.mark_notes($1, 120)', [[Buffer.from(sent)]])
    await tamper('select ledger.forget_notes_beyond(2, 1000)')
    expect((await notesOf([unsent, sent, newer])).map(({ note }) => note)).toEqual(['note 0', 'note 2'])
  })

  test.each([
    ['number', [2, 1_000]],
    ['size', [1_000, 13]],
  ])('deletes the oldest notes beyond a bound of their %s', async (_, bounds) => {
    await tamper('delete from ledger.notes')
    const streams = [newSignature(), newSignature(), newSignature()]
    for (const [index, stream] of streams.entries()) {
      await ledger.append({ ...claim(stream), note: Buffer.from(`note ${index}`) })
      await tamper('update ledger.notes set recorded_at = now() + $2 * interval $$1 second$$ where id = $1', [
        stream,
        index,
      ])
    }
    await tamper('select ledger.forget_notes_beyond($1, $2)', bounds)
    expect((await notesOf(streams)).map(({ note }) => note)).toEqual(['note 1', 'note 2'])
  })

  test('deletes notes a day old', async () => {
    const streams = [newSignature(), newSignature(), newSignature()]
    for (const [index, stream] of streams.entries())
      await ledger.append({ ...claim(stream), note: Buffer.from(`note ${index}`) })
    const [old] = streams
    await tamper("update ledger.notes set recorded_at = now() - interval '25 hours' where id = $1", [old])
    await pool.query('select ledger.forget_old_notes()')
    expect(await notesOf(streams)).toEqual([
      { note: 'note 1', sent: false },
      { note: 'note 2', sent: false },
    ])
  })
})

describe('ended keys', () => {
  test('are deleted, and keys without an end, as those of burn rounds, stay', async () => {
    await tamper(`insert into ledger.keys (space, key, id, until) values
      (11, 'mint#1', '\\x00', null), (10, 'running', '\\x00', now() + interval '1 hour'), (10, 'over', '\\x00', now())`)
    await pool.query('select ledger.forget_old_notes()')
    const { rows } = await admin.query<{ key: string }>(
      `select convert_from(key, 'UTF8') as key from ledger.keys where id = '\\x00' order by key`,
    )
    expect(rows).toEqual([{ key: 'mint#1' }, { key: 'running' }])
    await tamper(`delete from ledger.keys where id = '\\x00'`)
  })

  test('are deleted by 100,000 in a statement, because a backlog must not exceed its time', async () => {
    const endedKeys = 'select count(*)::integer as count from ledger.keys where until <= now()'
    await tamper(`insert into ledger.keys (space, key, id, until)
      select 10, convert_to('ended ' || n, 'UTF8'), '\\x00', now() - interval '1 hour' from generate_series(1, 200001) n`)
    const { rows } = await pool.query<{ forgotten: number }>('select ledger.forget_old_notes() as forgotten')
    expect(rows).toEqual([{ forgotten: 100_000 }])
    expect((await admin.query(endedKeys)).rows).toEqual([{ count: 100_001 }])
    await (await openInstance(serviceUrl)).forgetOldAnswers()
    expect((await admin.query(endedKeys)).rows).toEqual([{ count: 0 }])
  })
})

describe('a stream whose events are not all there', () => {
  test('cannot be read, alone or among others, because a part of it would be another state', async () => {
    const [whole, cut] = [newSignature(), newSignature()]
    for (const stream of [whole, cut]) await ledger.append(claim(stream))
    await tamper('update ledger.streams set version = version + 1 where id = $1', [cut])
    await expect(ledger.read(cut)).rejects.toThrow('could not be read')
    await expect(ledger.readMany([whole, cut])).rejects.toThrow('could not be read')
    expect(await ledger.read(whole)).toHaveLength(3)
    expect((await ledger.readMany([newSignature(), whole])).map((events) => events.length)).toEqual([0, 3])
  })
})
