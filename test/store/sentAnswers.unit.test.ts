import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { createSentAnswers } from '../../src/store/sentAnswers.ts'
import { referenceNumber } from '../payment/paymentStory.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

test('an answer counts as sent while the table does not say so, also after a failed write', async () => {
  // The first batch is due at once, and the second one only when the service closes.
  let sleeps = 0
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: (_durationMs: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (sleeps++ === 0) resolve()
        else signal?.addEventListener('abort', () => reject(new Error('closed')))
      }),
  }
  const statements: string[] = []
  const database = scriptedDatabase((statement) => {
    statements.push(statement)
    if (statements.length === 1) throw new Error('the connection is gone')
    return []
  })
  const sent = createSentAnswers({ database, clock, log: silentLog, repeatMs: 60_000 })
  const [bare, bound] = [referenceNumber(1), referenceNumber(2)]
  sent.add({ reference: bare, isBound: false })
  await setImmediate()
  expect(statements).toHaveLength(1)
  expect(sent.has(bare), 'the first write failed').toBe(true)
  sent.add({ reference: bound, isBound: true })
  expect(sent.has(bound)).toBe(true)
  await sent.close()
  expect([sent.has(bare), sent.has(bound)]).toEqual([false, false])
  expect(statements.slice(1).map((statement) => /ledger\.\w+/.exec(statement)?.[0])).toEqual([
    'ledger.end_notes',
    'ledger.mark_notes',
  ])
})

test('more answers than one statement takes are all recorded', async () => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() }
  const statements: string[] = []
  const database = scriptedDatabase((statement) => {
    statements.push(statement)
    return []
  })
  const sent = createSentAnswers({ database, clock, log: silentLog, repeatMs: 0 })
  const references = Array.from({ length: 1_001 }, (_, index) => referenceNumber(index + 1))
  for (const reference of references) sent.add({ reference, isBound: true })
  await sent.close()
  expect(statements.map((statement) => /ledger\.\w+/.exec(statement)?.[0])).toEqual(Array(2).fill('ledger.end_notes'))
  expect(references.filter(sent.has)).toEqual([])
})
