import { expect, test } from 'vitest'
import { z } from 'zod'
import { type AuditReport, exitCodeOf } from '@tollbook/audit/auditReport'
import { AuditRun, type AuditRunDeps } from '@tollbook/audit/auditRun'
import { hostClock } from '@tollbook/audit/clock'
import { addPosition, newStream } from '../../packages/audit/src/auditedStream.ts'
import { AuditState } from '../../packages/audit/src/auditState.ts'
import { aspects, findingAspects, Findings } from '../../packages/audit/src/findings.ts'
import { reportUnknownKinds } from '../../packages/audit/src/unknownKinds.ts'
import { ReplayedLedger } from './replayedLedger.ts'

/* State of an audit while it reads a ledger: rows, findings and the file of the next audit. */

test('a row that is changed after thousands of other rows were used has its change in the file', () => {
  const state = AuditState.small()
  const schema = z.object({ id: z.string(), count: z.number() })
  const rows = state.rows({ name: 'counts', key: 'id', schema })
  for (let id = 0; id <= 8_001; id++) rows.add(String(id), { id: String(id), count: 0 })
  state.trim()
  for (const count of [1, 2]) {
    const found = rows.find('7')
    if (found !== undefined) Object.assign(found, { count })
    rows.flush()
  }
  expect(rows.find('7')).toEqual({ id: '7', count: 2 })
  expect([...state.select('select count from counts where count > 0')]).toMatchObject([{ count: 2 }])
})

test('the codes of an aspect follow each other, so a code under another aspect is noticed', () => {
  const ofCodes = Object.values(findingAspects)
  expect(ofCodes.filter((aspect, index) => aspect !== ofCodes[index - 1])).toEqual(aspects)
})

test('an unknown kind is one finding, at its first stream, whatever events its streams begin with', () => {
  const { replay } = new ReplayedLedger()
    .append('news:1', ['Discovered', {}])
    .append('news:2', ['Found', {}])
    .append('mail:1', ['Sent', {}])
    .append('mail:1', ['Read', {}])
  reportUnknownKinds(replay, new Map([['news', ['Found', 'Discovered']]]))
  expect(replay.findings.all().map(({ position, subject, message }) => [position, subject, message])).toEqual([
    [1, 'kind news', 'this auditor does not know the kind: 2 streams with 2 events are not judged'],
    [3, 'streams that begin with Sent', 'this auditor does not know the kind: 1 stream with 2 events is not judged'],
  ])
})

test('the positions of a stream are ranges as Postgres writes them', () => {
  const row = newStream('solana:one', 'payment', 1)
  const texts = [1, 3, 4, 7, 8].map((position) => {
    addPosition(row, position)
    return row.positions
  })
  expect(texts).toEqual(['{[1,2)}', '{[1,2),[3,4)}', '{[1,2),[3,5)}', '{[1,2),[3,5),[7,8)}', '{[1,2),[3,5),[7,9)}'])
})

test('the state is saved when the signatures of its events have been verified, because no later audit verifies them', async () => {
  const order: string[] = []
  const stored = { drain: () => Promise.resolve().then(() => void order.push('verified')) }
  const replay = { state: { save: () => void order.push('saved') } }
  // An end needs nothing else of its parts.
  const parts = { stored, replay, clock: hostClock, isResumable: true } as unknown as AuditRunDeps
  await new AuditRun(parts).end()
  expect(order).toEqual(['verified', 'saved'])
})

test.each([
  [['broken', 'broken', 'broken', 'broken'], 7],
  [['holds', 'broken', 'broken', 'broken'], 6],
  [['not_re_checkable', 'holds', 'broken', 'broken'], 5],
  [['not_re_checkable', 'holds', 'broken', 'not_checked'], 4],
  [['holds', 'not_re_checkable', 'holds', 'not_checked'], 3],
  [['not_checked', 'holds', 'holds', 'not_checked'], 0],
] as const)('the verdicts %j end with the code %d of the worst', (statuses, code) => {
  const verdicts = Object.fromEntries(aspects.map((aspect, index) => [aspect, { status: statuses[index] }]))
  // The code follows from the statuses alone.
  expect(exitCodeOf({ verdicts } as unknown as AuditReport)).toBe(code)
})

test('the findings of each aspect are stored up to a hundred, and the first and the count are exact', () => {
  const findings = new Findings(AuditState.small())
  const at = (position: number) => ({ position, subject: 'it', message: '' })
  for (let position = 300; position > 0; position--) findings.add('leaf_mismatch', at(position))
  findings.add('kind_unknown', at(1))
  for (const position of [9, 4, 7]) findings.add('price_wrong', at(position))
  expect(findings.of('integrity')).toHaveLength(100)
  expect([findings.countOf('integrity'), findings.first('integrity')?.position]).toEqual([300, 1])
  expect(findings.of('arithmetic').map(({ position }) => position)).toEqual([1, 9, 4, 7])
  expect([findings.countOf('arithmetic'), findings.first('arithmetic')?.position]).toEqual([3, 4])
  expect(findings.unjudgedCount()).toBe(1)
})
