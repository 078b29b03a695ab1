import { expect, test } from 'vitest'
import { paymentItem } from '../../src/store/appendBatch.ts'
import { createTestDatabase } from '../support/database.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openCuttingProxy } from './cuttingProxy.ts'
import { openEventStore, openSessions } from './instance.ts'
import { claimOf, sampleSettlement } from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const proxy = await openCuttingProxy(serviceUrl)
const { events: store } = openEventStore(proxy.databaseUrl, 20_000)
const admin = openSessions(adminUrl)

async function copiesOf(streams: readonly string[]): Promise<readonly number[]> {
  const { rows } = await admin.query<{ copies: number }>(
    `select (select count(*)::int from ledger.events e where e.stream = s.stream) as copies
     from unnest($1::text[]) with ordinality as s (stream, n) order by s.n`,
    [streams],
  )
  return rows.map(({ copies }) => copies)
}

test.each(['before the request', 'behind the request', 'before the answer'] as const)(
  'I8: a connection that breaks %s costs no append and doubles none',
  async (where) => {
    for (let round = 0; round < 6; round++) {
      const settlements = Array.from({ length: 8 }, () => sampleSettlement())
      const before = proxy.cuts()
      proxy.cut(where, 1 + (round % 2))
      const outcomes = await Promise.all(settlements.map((each) => store.submit(paymentItem(claimOf(each).change))))
      expect(proxy.cuts() - before).toBe(1 + (round % 2))
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(settlements.map(() => 'appended'))
      expect(await copiesOf(settlements.map(({ signature }) => signature))).toEqual(settlements.map(() => 3))
    }
  },
)

test('I8: an append that is recognised as our own has the position, leaf and time at which it stands', async () => {
  const settlement = sampleSettlement()
  proxy.cut('before the answer', 1)
  const appended = await store.submit(paymentItem(claimOf(settlement).change))
  const { rows } = await admin.query<{ seq: number; leaf: string; at: Date }>(
    `select seq::int, encode(leaf_hash, 'hex') as leaf, recorded_at as at from ledger.events where stream = $1 order by seq`,
    [settlement.signature],
  )
  expect(appended).toEqual({
    outcome: 'appended',
    recordedAtMs: rows[0]?.at.getTime(),
    leaves: rows.map(({ seq, leaf }) => ({ position: seq, leafHash: leaf })),
  })
})

test('I1: a claim whose answer was lost is not mistaken for our own when somebody else has won', async () => {
  const settlement = sampleSettlement()
  const direct = openEventStore(serviceUrl, 20_000)
  const [winner, loser] = [claimOf(settlement).change, claimOf(settlement).change]
  expect(await direct.events.submit(paymentItem(winner))).toMatchObject({ outcome: 'appended' })
  proxy.cut('before the answer', 1)
  expect(await store.submit(paymentItem(loser))).toEqual({ outcome: 'conflict' })
})

test('I8: when the outcome cannot be learned in time the caller hears a retryable fault, and not that it lost', async () => {
  const impatient = openEventStore(proxy.databaseUrl, 250)
  proxy.cut('behind the request', 1_000)
  const settlement = sampleSettlement()
  const unknown = impatient.events.submit(paymentItem(claimOf(settlement).change))
  await expect(unknown).rejects.toMatchObject({ name: 'Fault', retryable: true, message: /did not say/ })
  proxy.cut('before the request', 0)
  const [copies] = await copiesOf([settlement.signature])
  expect([0, 3]).toContain(copies)
})

test.each([
  ['cancelled', 'pg_cancel_backend'],
  ['ended with its session', 'pg_terminate_backend'],
])('an append that is %s by the server while it waits is sent again, and taken once', async (_, kill) => {
  const { events: store } = openEventStore(serviceUrl, 20_000)
  const blocker = await admin.connect()
  try {
    await blocker.query('begin')
    await blocker.query('select from ledger.head where one for update')
    const settlements = Array.from({ length: 5 }, () => sampleSettlement())
    const outcomes = Promise.all(settlements.map((each) => store.submit(paymentItem(claimOf(each).change))))
    let killed = 0
    await awaitThat('the waiting append has been killed twice', async () => {
      const { rowCount } = await admin.query(
        `select ${kill}(pid) from pg_stat_activity where application_name = 'test store' and wait_event_type = 'Lock'`,
      )
      killed += rowCount ?? 0
      return killed >= 2
    })
    await blocker.query('rollback')
    expect((await outcomes).map(({ outcome }) => outcome)).toEqual(settlements.map(() => 'appended'))
    expect(await copiesOf(settlements.map(({ signature }) => signature))).toEqual(settlements.map(() => 3))
  } finally {
    blocker.release()
  }
})
