import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openKernel, openPool } from './openKernel.ts'
import { claim, finalize, fulfil, newSignature, refund, release } from './sampleItems.ts'

const { serviceUrl } = await createTestDatabase()
const pool = openPool(serviceUrl)
const ledger = openKernel(pool)

/** Follows to the end, and returns the queues of each stream. */
async function openWork(): Promise<ReadonlyMap<string, readonly string[]>> {
  let followed = 1
  while (followed > 0) {
    const { rows } = await pool.query<{ followed: number }>('select work.follow(4) as followed')
    followed = rows[0]?.followed ?? 0
  }
  const { rows } = await pool.query<{ id: string; queues: string[] }>(
    "select encode(id, 'hex') as id, array_agg(queue order by queue) as queues from work.open group by id",
  )
  return new Map(rows.map(({ id, queues }) => [id, queues]))
}

const hex = (stream: Uint8Array) => Buffer.from(stream).toString('hex')

test('open work follows each payment through its lifecycle, and ends with it', async () => {
  const stream = newSignature()
  const queues = async () => (await openWork()).get(hex(stream))
  await ledger.append(claim(stream))
  expect(await queues()).toEqual(['finality', 'lease'])
  await ledger.append(release(stream, 3))
  expect(await queues()).toEqual(['finality'])
  await ledger.append(finalize(stream, 4))
  expect(await queues()).toEqual(['undelivered'])
  await ledger.append(refund(stream, 5))
  expect(await queues()).toBeUndefined()
})

test('work is due by the lease or since the first event, and a second follower returns at once', async () => {
  const stream = newSignature()
  await ledger.append(claim(stream))
  await ledger.append(fulfil(stream, 3))
  const other = newSignature()
  await ledger.append({ ...claim(other), leaseMs: 5_000 })
  expect((await openWork()).get(hex(stream))).toEqual(['finality'])
  const { rows } = await pool.query<{ queue: string; fits: boolean }>(
    `select o.queue, o.due_at = case o.queue when 'lease' then s.lease_until else e.recorded_at end as fits
     from work.open o join ledger.streams s on s.id = o.id join ledger.events e on e.seq = s.stream
     where o.id = $1 order by 1`,
    [Buffer.from(other)],
  )
  expect(rows).toEqual([
    { queue: 'finality', fits: true },
    { queue: 'lease', fits: true },
  ])
  await ledger.append(claim(newSignature()))
  const blocker = await pool.connect()
  try {
    await blocker.query('begin')
    expect((await blocker.query('select work.follow(1) as followed')).rows).toEqual([{ followed: 1 }])
    expect((await pool.query('select work.follow(100) as followed')).rows).toEqual([{ followed: 0 }])
    await blocker.query('rollback')
  } finally {
    blocker.release()
  }
  // Rolled-back work is followed again.
  expect((await pool.query('select work.follow(100) as followed')).rows).toEqual([{ followed: 3 }])
})
