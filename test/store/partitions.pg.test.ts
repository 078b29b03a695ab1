import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { createTestDatabase } from '../support/database.ts'
import { openInstance, openSessions } from './instance.ts'
import { claimOf, sampleQuote, sampleSettlement } from './samplePayment.ts'

const { serviceUrl, adminUrl, ownerUrl } = await createTestDatabase()
const instances = await Promise.all(Array.from({ length: 4 }, () => openInstance(serviceUrl)))
const instance = (index: number) => assertPresent(instances[index % 4], 'there are four instances')
const admin = openSessions(adminUrl)

const positionsEach = 10_000_000

async function partitionsOf(parent: string): Promise<readonly string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass order by 1`,
    [parent],
  )
  return rows.map(({ name }) => name)
}

/** As if the book had that many events: only a superuser who takes the triggers away can do this. */
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

test('twenty instances that add partitions at once make each of them once', async () => {
  await moveHead(2 * positionsEach)
  const before = await partitionsOf('ledger.events')
  await Promise.all(Array.from({ length: 20 }, (_, index) => instance(index).addPartitions()))
  expect(await partitionsOf('ledger.events')).toEqual([...before, 'events_2', 'events_3'])
  expect(await partitionsOf('ledger.entries')).toEqual(['entries_0', 'entries_1', 'entries_2', 'entries_3'])
  expect(await partitionsOf('ledger.quotes')).toHaveLength(9)
})

test('partitions are added while claims and quotes are being written, and neither fails', async () => {
  const work = Array.from({ length: 120 }, async (_, index) => {
    const ledger = instance(index)
    if (index % 10 === 0) await ledger.addPartitions()
    const appended = await ledger.payments.append(claimOf(sampleSettlement()).change)
    await ledger.payments.recordQuote(sampleQuote())
    return appended.outcome
  })
  expect(new Set(await Promise.all(work))).toEqual(new Set(['appended']))
})

test('a batch that crosses a boundary stands in both partitions, without a gap', async () => {
  await moveHead(3 * positionsEach - 20)
  await instance(0).addPartitions()
  const claims = Array.from({ length: 32 }, () => instance(0).payments.append(claimOf(sampleSettlement()).change))
  const outcomes = await Promise.all(claims)
  expect(outcomes.every((appended) => appended.outcome === 'appended')).toBe(true)
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

test('I22: a partition that was added later is as append-only as the first, and is reached only through its parent', async () => {
  const owner = openSessions(ownerUrl)
  const service = openSessions(serviceUrl)
  for (const statement of [
    'delete from ledger.events_3',
    'truncate ledger.events_3',
    'insert into ledger.events_3 default values',
  ]) {
    await expect(owner.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  }
  await expect(service.query('select from ledger.events_3')).rejects.toMatchObject({ code: '42501' })
  await expect(service.query('select from ledger.events limit 1')).resolves.toMatchObject({ rowCount: 1 })
})
