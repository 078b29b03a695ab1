import type { deserialize } from 'node:v8'
import { expect, test } from 'vitest'
import type { Clock } from '@tollbook/core/clock'
import type { QueryRunner } from '@tollbook/ledger/database'
import { createHistory } from '@tollbook/ledger/history'
import { silentLog } from '../../src/machine/log.ts'

/* The comparison of a ledger with what a process has seen, on answers of a database that the test writes. */

const [leaf, other] = ['a'.repeat(64), 'b'.repeat(64)]
interface Answer {
  readonly system_identifier: string
  readonly timeline: number | null
  readonly head_seq: number
  readonly head_leaf: string | null
  readonly known_leaf: string | null
  readonly lost_number: number | null
  readonly lost_seq: number | null
  readonly lost_leaf: string | null
}

const primary: Answer = {
  system_identifier: '7',
  timeline: 2,
  head_seq: 5,
  head_leaf: leaf,
  known_leaf: leaf,
  lost_number: null,
  lost_seq: null,
  lost_leaf: null,
}
function openHistory(promotionWaitMs = 10_000) {
  let nowMs = 0
  const reports: unknown[] = []
  const database = { answer: primary }
  const query = (asked: unknown, values?: unknown): ReturnType<typeof deserialize> => {
    if (typeof asked === 'string') reports.push(values)
    return Promise.resolve({ rows: [database.answer] })
  }
  const runner: QueryRunner = { query: (asked: unknown, values?: unknown) => query(asked, values) }
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve() }
  const history = createHistory({ clock, log: silentLog, reporter: 'one', promotionWaitMs })
  return {
    history,
    reports,
    wait: (ms: number) => (nowMs += ms),
    compare: (given: Partial<Answer> = {}) => {
      database.answer = { ...primary, ...given }
      return history.compare(runner)
    },
  }
}

test('a standby and an old primary are problems that pass, and nothing is written to them', async () => {
  const { history, compare, reports } = openHistory()
  await expect(compare({ timeline: null })).rejects.toThrow('is a standby')
  expect(history.problem()).toContain('is a standby')
  await compare()
  expect(history.problem()).toBeUndefined()
  expect(history.known()).toEqual({ newest: { position: 5, leafHash: leaf }, timeline: 2 })
  await expect(compare({ timeline: 1, known_leaf: other })).rejects.toThrow('an old primary, on timeline 1 and not 2')
  await compare()
  expect([history.problem(), history.lost(), reports]).toEqual([undefined, undefined, []])
})

test('after a promotion no process appends until the others have had their time, and the wait ends', async () => {
  const { history, compare, wait } = openHistory()
  await compare()
  await expect(compare({ timeline: 3 })).rejects.toThrow('sales continue in 10 s')
  wait(4_000)
  await expect(compare({ timeline: 3 })).rejects.toThrow('sales continue in 6 s')
  expect(history.known().timeline).toBe(2)
  wait(6_000)
  await compare({ timeline: 3 })
  expect([history.known().timeline, history.problem()]).toEqual([3, undefined])
})

test.each<readonly [name: string, given: Partial<Answer>, finding: string]>([
  ['lacks the newest event', { head_seq: 4, known_leaf: null }, 'the database ends at event 4'],
  ['has another event there', { known_leaf: other }, `event 5 of the database is ${other}`],
  ['is another cluster', { system_identifier: '8' }, 'belongs to cluster 8'],
  ['has a report of a loss', { lost_number: 1, lost_seq: 9, lost_leaf: other }, 'event 9 is lost'],
])('a database that %s closes the ledger of this process for good', async (_, given, finding) => {
  const { history, compare, reports } = openHistory()
  await compare()
  await expect(compare(given)).rejects.toThrow('the operator has to look')
  expect(history.lost()?.finding).toContain(finding)
  expect(reports).toEqual('known_leaf' in given ? [[5, leaf, 'one']] : [])
  await expect(compare()).rejects.toThrow('the operator has to look')
  expect(() => history.requireOpen()).toThrow('the operator has to look')
})

test('a loss that was reported before the process opened the ledger is accepted, and a later one is not', async () => {
  const { history, compare } = openHistory()
  const loss = { lost_seq: 3, lost_leaf: other }
  await compare({ ...loss, lost_number: 1 })
  await compare({ ...loss, lost_number: 1 })
  expect(history.problem()).toBeUndefined()
  await expect(compare({ ...loss, lost_number: 2 })).rejects.toThrow('the operator has to look')
})

test('the newest event that was seen is the one at the highest position', async () => {
  const { history, compare } = openHistory()
  await compare()
  history.observe({ position: 9, leafHash: other })
  history.observe({ position: 7, leafHash: leaf })
  expect(history.known().newest).toEqual({ position: 9, leafHash: other })
})
