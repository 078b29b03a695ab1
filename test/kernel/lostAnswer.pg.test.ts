import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { openDatabase } from '@tollbook/ledger/database'
import { createLedger } from '@tollbook/ledger/ledger'
import { expect, test } from 'vitest'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import { findBroken } from './checkLedger.ts'
import { openCuttingProxy } from './cuttingProxy.ts'
import { openKernel, openPool } from './openKernel.ts'
import { claim, newSignature } from './sampleItems.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const proxy = await openCuttingProxy(serviceUrl)
const admin = openPool(adminUrl, 4)
const direct = openKernel(openPool(serviceUrl))
const ledger = openKernel(openPool(proxy.databaseUrl), { outcomeTimeoutMs: 20_000 })

const eventsOf = async (streams: readonly Uint8Array[]) =>
  (await direct.readMany(streams)).map((events) => events.length)

test.each(['before the request', 'behind the request', 'before the answer'] as const)(
  'a connection that breaks %s costs no append and doubles none (I8)',
  async (where) => {
    for (let round = 0; round < 6; round++) {
      const streams = Array.from({ length: 8 }, newSignature)
      const before = proxy.cuts()
      proxy.cut(where, 1 + (round % 2))
      const outcomes = await Promise.all(streams.map((stream) => ledger.append(claim(stream))))
      expect(proxy.cuts() - before).toBe(1 + (round % 2))
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(streams.map(() => 'appended'))
      expect(await eventsOf(streams)).toEqual(streams.map(() => 3))
    }
    expect(await findBroken(admin)).toEqual([])
  },
)

test('an append that is recognised as its own has the position, leaf and time at which it stands (I8)', async () => {
  const stream = newSignature()
  proxy.cut('before the answer', 1)
  const appended = await ledger.append(claim(stream))
  const events = await direct.read(stream)
  const leaves = events.map(({ position, leafHash }) => ({ position, leafHash }))
  expect(appended).toEqual({ outcome: 'appended', recordedAtMs: events[0]?.recordedAtMs, leaves })
})

test('an append stays in doubt although the server refuses its second call as read-only, as in a failover (I8)', async () => {
  const pool = openPool(serviceUrl)
  const readOnly = Object.assign(new pg.DatabaseError('the transaction is read-only', 0, 'error'), { code: '25006' })
  const failures = [new Error('the connection is lost'), readOnly]
  let calls = 0
  const query = async (question: pg.QueryConfig) => {
    const failure = question.text.includes('append_batch') ? failures[calls++] : undefined
    if (failure === readOnly) throw failure
    // The first call is committed before its answer is lost.
    const result = await pool.query(question)
    if (failure !== undefined) throw failure
    return result
  }
  const stream = newSignature()
  const appended = await openKernel(Object.assign(Object.create(null), { query })).append(claim(stream))
  expect([appended.outcome, calls, await eventsOf([stream])]).toEqual(['appended', 3, [3]])
})

test('appends stay in doubt although the server refuses the content of their second call, and each is sent alone (I8)', async () => {
  const pool = openPool(serviceUrl)
  const refused = Object.assign(new pg.DatabaseError('invalid parameter', 0, 'error'), { code: '22023' })
  const failures = [new Error('the connection is lost'), refused]
  let calls = 0
  const query = async (question: pg.QueryConfig) => {
    const failure = question.text.includes('append_batch') ? failures[calls++] : undefined
    if (failure === refused) throw failure
    const result = await pool.query(question)
    if (failure !== undefined) throw failure
    return result
  }
  const streams = [newSignature(), newSignature()]
  const kernel = openKernel(Object.assign(Object.create(null), { query }))
  const appended = await Promise.all(streams.map((stream) => kernel.append(claim(stream))))
  expect([appended.map(({ outcome }) => outcome), calls]).toEqual([['appended', 'appended'], 4])
  expect(await eventsOf(streams)).toEqual([3, 3])
})

test('a claim whose answer was lost is not mistaken for the one that has won (I1)', async () => {
  const stream = newSignature()
  expect(await direct.append(claim(stream))).toMatchObject({ outcome: 'appended' })
  proxy.cut('before the answer', 1)
  expect(await ledger.append(claim(stream))).toEqual({ outcome: 'refused', refusal: { reason: 'conflict' } })
})

test('when the outcome cannot be learned in time the caller gets a retryable fault, and not a refusal (I8)', async () => {
  const impatient = openKernel(openPool(proxy.databaseUrl), { outcomeTimeoutMs: 250 })
  proxy.cut('behind the request', 1_000)
  const stream = newSignature()
  await expect(impatient.append(claim(stream))).rejects.toMatchObject({
    name: 'Fault',
    retryable: true,
    message: /did not report/,
  })
  proxy.cut('before the request', 0)
  expect([0, 3]).toContain((await direct.read(stream)).length)
})

test.each([
  ['cancelled', 'pg_cancel_backend'],
  ['ended with its session', 'pg_terminate_backend'],
])('an append that is %s by the server while it waits is sent again, and taken once', async (_, kill) => {
  const quiet = { warn: () => undefined, error: () => undefined }
  const pool = openDatabase({ databaseUrl: serviceUrl, applicationName: 'killed', connectionsMax: 4, log: quiet })
  afterFile(() => pool.end())
  const killed = createLedger({ pool, clock: systemClock, log: quiet, outcomeTimeoutMs: 20_000 })
  const blocker = await admin.connect()
  try {
    await blocker.query('begin')
    await blocker.query('select from ledger.head where one for update')
    const streams = Array.from({ length: 5 }, newSignature)
    const outcomes = Promise.all(streams.map((stream) => killed.append(claim(stream))))
    let kills = 0
    await awaitThat('the waiting append has been killed twice', async () => {
      const { rowCount } = await admin.query(
        `select ${kill}(pid) from pg_stat_activity where application_name = 'killed' and wait_event_type = 'Lock'`,
      )
      kills += rowCount ?? 0
      return kills >= 2
    })
    await blocker.query('rollback')
    expect((await outcomes).map(({ outcome }) => outcome)).toEqual(streams.map(() => 'appended'))
    expect(await eventsOf(streams)).toEqual(streams.map(() => 3))
  } finally {
    blocker.release()
  }
})

test('a pooler that loses prepared statements costs no append (fault 9)', async () => {
  const pool = openPool(serviceUrl, 1)
  const pooled = openKernel(pool)
  const streams = [newSignature(), newSignature(), newSignature()]
  for (const stream of streams) {
    expect(await pooled.append(claim(stream))).toMatchObject({ outcome: 'appended' })
    // As another session would be, to which a pooler in transaction mode passes the next statement.
    await pool.query('deallocate all')
  }
  expect(await eventsOf(streams)).toEqual([3, 3, 3])
})
