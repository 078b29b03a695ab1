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
