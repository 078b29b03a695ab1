import { assertPresent } from '@tollbook/core/assert'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openKernel, openPool } from './openKernel.ts'
import { claim, fulfil, newSignature } from './sampleItems.ts'

const { serviceUrl, adminUrl, ownerUrl } = await createTestDatabase()
const pools = Array.from({ length: 4 }, () => openPool(serviceUrl, 4))
const ledgers = pools.map((pool) => openKernel(pool))
const admin = openPool(adminUrl, 2)
const pool = assertPresent(pools[0], 'there are four pools')
const ledger = assertPresent(ledgers[0], 'there are four ledgers')

const positionsEach = 10_000_000

async function partitionsOf(parent: string): Promise<readonly string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass order by length(c.relname), 1`,
    [parent],
  )
  return rows.map(({ name }) => name)
}

/** As if the ledger had that many events: only a superuser who takes the triggers away can do this. */
async function moveHead(seq: number): Promise<void> {
  await admin.query(`
    begin;
    alter table ledger.head disable trigger all;
    update ledger.head set seq = ${seq};
    alter table ledger.head enable always trigger projection_follows_the_log;
    alter table ledger.head enable always trigger projection_never_shrinks;
    alter table ledger.head enable always trigger projection_is_never_emptied;
    commit`)
}

interface Cost {
  readonly buffers: number
  readonly planningBuffers: number
  readonly partitionsLocked: number
}

interface Explained {
  readonly 'QUERY PLAN': readonly [{ Plan: Counted; Planning?: Counted }]
}

interface Counted {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

const counted = (blocks: Counted | undefined) =>
  (blocks?.['Shared Hit Blocks'] ?? 0) + (blocks?.['Shared Read Blocks'] ?? 0)

/** Pages that a query of a warm session touches, planning included, and the partitions that it locks. */
async function costOf(session: pg.PoolClient, query: string, values: unknown[]): Promise<Cost> {
  for (let warm = 0; warm < 3; warm++) await session.query(query, values)
  await session.query('begin')
  const { rows } = await session.query<Explained>(`explain (analyze, buffers, format json) ${query}`, values)
  const { rows: locks } = await session.query<{ count: number }>(
    `select count(distinct relation)::int as count from pg_locks l join pg_class c on c.oid = l.relation
     where l.pid = pg_backend_pid() and c.relispartition and c.relkind = 'r'`,
  )
  await session.query('rollback')
  const [plan] = assertPresent(rows[0], 'an explanation is a row')['QUERY PLAN']
  const planningBuffers = counted(plan.Planning)
  return { buffers: counted(plan.Plan), planningBuffers, partitionsLocked: assertPresent(locks[0], 'a count').count }
}

test('reading streams costs the same pages, plans and locks at 60 partitions as at 3', async () => {
  const streams = Array.from({ length: 20 }, newSignature)
  for (const stream of streams) {
    await ledger.append(claim(stream))
    await ledger.append(fulfil(stream, 3))
  }
  const ids = streams.map((stream) => Buffer.from(stream))
  const questions = [
    ['select * from ledger.read($1)', [ids[0]]],
    ['select * from ledger.read_many($1)', [ids]],
  ] as const
  const measure = async () => {
    const session = await openPool(serviceUrl, 1).connect()
    try {
      const costs: Cost[] = []
      for (const [query, values] of questions) costs.push(await costOf(session, query, [...values]))
      return costs
    } finally {
      session.release()
    }
  }
  const few = await measure()
  const before = await partitionsOf('ledger.events')
  expect(before).toHaveLength(3)
  for (let part = 3; part < 60; part++)
    await openPool(ownerUrl, 1).query("select ledger.add_partition('ledger.events', $1, $2)", [
      `events_${part}`,
      [`${part * positionsEach}`, `${(part + 1) * positionsEach}`],
    ])
  expect(await partitionsOf('ledger.events')).toHaveLength(60)
  const many = await measure()
  expect(many).toEqual(few)
  expect(many.map(({ partitionsLocked }) => partitionsLocked)).toEqual([1, 1])
})

test('an append locks the partition that it writes to, and no other of 60', async () => {
  const session = await pool.connect()
  try {
    const inSession = openKernel(session)
    await inSession.append(claim(newSignature()))
    await session.query('begin')
    expect(await inSession.append(claim(newSignature()))).toMatchObject({ outcome: 'appended' })
    const { rows } = await session.query<{ name: string }>(
      `select distinct c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
       where l.pid = pg_backend_pid() and c.relispartition and c.relkind = 'r'`,
    )
    await session.query('commit')
    expect(rows).toEqual([{ name: 'events_0' }])
  } finally {
    session.release()
  }
})

test('partitions are made ahead of the head and of the day; twenty callers at once make each of them once', async () => {
  const { rows } = await admin.query<{ last: number }>('select max(seq) as last from ledger.events')
  await moveHead(60 * positionsEach)
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      assertPresent(pools[n % 4], 'four pools').query('select ledger.add_partitions()'),
    ),
  )
  expect((await partitionsOf('ledger.events')).slice(60)).toEqual(['events_60', 'events_61', 'events_62'])
  // Nine days and the quotes that are kept beyond theirs.
  expect(await partitionsOf('ledger.quotes')).toHaveLength(10)
  await moveHead(assertPresent(rows[0], 'the ledger has events').last)
})

test('partitions are added while claims are being written, and neither fails', async () => {
  const work = Array.from({ length: 120 }, async (_, n) => {
    if (n % 10 === 0) await assertPresent(pools[n % 4], 'four pools').query('select ledger.add_partitions()')
    return (await assertPresent(ledgers[n % 4], 'four ledgers').append(claim(newSignature()))).outcome
  })
  expect(new Set(await Promise.all(work))).toEqual(new Set(['appended']))
})

test('a batch that crosses a boundary is in both partitions, without a gap (I22)', async () => {
  await moveHead(3 * positionsEach - 20)
  const outcomes = await Promise.all(Array.from({ length: 32 }, () => ledger.append(claim(newSignature()))))
  expect(outcomes.every(({ outcome }) => outcome === 'appended')).toBe(true)
  const { rows } = await admin.query<{ partition: string; first: number; last: number; count: number }>(
    `select tableoid::regclass::text as partition, min(seq)::int as first, max(seq)::int as last, count(*)::int as count
     from ledger.events where seq > $1 group by 1 order by 2`,
    [3 * positionsEach - 20],
  )
  expect(rows).toEqual([
    { partition: 'ledger.events_2', first: 3 * positionsEach - 19, last: 3 * positionsEach - 1, count: 19 },
    { partition: 'ledger.events_3', first: 3 * positionsEach, last: 3 * positionsEach - 20 + 96, count: 77 },
  ])
})

test('a partition that was added later is as append-only as the first, and is reached only through its parent (I22)', async () => {
  const owner = openPool(ownerUrl, 1)
  for (const statement of [
    'delete from ledger.events_61',
    'truncate ledger.events_61',
    'insert into ledger.events_61 default values',
  ])
    await expect(owner.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  await expect(pool.query('select from ledger.events_61')).rejects.toMatchObject({ code: '42501' })
  await expect(pool.query('select from ledger.events limit 1')).resolves.toMatchObject({ rowCount: 1 })
})
