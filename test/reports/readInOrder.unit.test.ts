import { expect, test } from 'vitest'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { ClosingNotReady, closingRange, unsealedMax } from '../../src/reports/closing/closingRange.ts'
import { lateEntries } from '../../src/reports/closing/lateEntries.ts'
import { readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { createReports } from '../../src/reports/reports.ts'
import { mint, wallet } from '../payment/paymentStory.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

/* Reports of a ledger that grows while they are read, on a database that answers by a script. */

const token = { mint, decimals: 6 }

test('a report never states a position beyond its figures, however the ledger grows meanwhile', async () => {
  let position = 5
  const database = scriptedDatabase((statement) => {
    if (statement.includes('as position')) return [{ position, head: position }]
    if (statement.includes('reports.roll_up')) return [{ due: false }]
    const rows = [{ account: 'Liabilities:Unearned', closingDebitBaseUnits: String(position) }]
    // Another session rolls up right after these rows were read.
    position += 4
    return rows
  })
  const question = readQuestion('trial-balance', {})
  if (isProblems(question)) throw new Error('no parameter is a question')
  const stated = await createReports(database, token).table('trial-balance', question)
  expect(stated.read.rows[0]).toMatchObject({ closingDebitBaseUnits: 5n })
  expect(stated.position).toBe(5)
})

test('refunds that a decision depends on are read once the whole backlog is in the reports', async () => {
  let backlog = 3
  const granted = { position: 1, mint, reference: 'r', account: `Liabilities:RefundsDue:${wallet}`, amount: '7' }
  const decision = { kind: 'granted', by: 'mira', role: 'finance', reason: 'asked', decidedAt: new Date(0) }
  const database = scriptedDatabase((statement) => {
    if (statement.includes('as rolled')) return [{ rolled: backlog-- }]
    if (statement.includes('as due')) return [{ due: backlog > 0 }]
    return statement.includes('from reports.refunds') && backlog === 0 ? [{ ...granted, ...decision }] : []
  })
  const refunds = await createReports(database, token).refundsOf(wallet)
  expect(refunds).toMatchObject([{ reference: 'r', owedBaseUnits: 7n }])
})

test('a running month whose events are sealed too slowly has no statement, instead of one that is hours old', async () => {
  const signer = ed25519Signer(makeReceiptKey())
  const nowMs = Date.parse('2026-10-30T00:00:00Z')
  const rangeAt = (size: number, position: number) => {
    const note = signCheckpoint({ origin: 'o', size, root: Buffer.alloc(32, 5) }, signer)
    const database = scriptedDatabase((statement) => {
      if (statement.includes('as position')) return [{ position, head: position }]
      if (statement.includes('recorded_at')) return [{ recorded_at: new Date(nowMs) }]
      return statement.includes('ledger.checkpoints') ? [{ size, root: Buffer.alloc(32, 5), note }] : []
    })
    return closingRange(database, { month: '2026-10', nowMs })
  }
  expect(await rangeAt(7, 7 + unsealedMax)).toMatchObject({ statedUpto: 7, isFinal: false })
  expect(await rangeAt(7, 8 + unsealedMax)).toBeInstanceOf(ClosingNotReady)
})

test('a month is final ten minutes after its close, because clocks differ', async () => {
  const signer = ed25519Signer(makeReceiptKey())
  const note = signCheckpoint({ origin: 'o', size: 7, root: Buffer.alloc(32, 5) }, signer)
  const database = scriptedDatabase((statement) => {
    if (statement.includes('as position')) return [{ position: 7, head: 7 }]
    if (statement.includes('recorded_at')) return [{ recorded_at: new Date(0) }]
    return statement.includes('ledger.checkpoints') ? [{ size: 7, root: Buffer.alloc(32, 5), note }] : []
  })
  const isFinalAt = async (time: string) => closingRange(database, { month: '2026-10', nowMs: Date.parse(time) })
  expect(await isFinalAt('2026-11-02T00:09:59.999Z')).toMatchObject({ isFinal: false })
  expect(await isFinalAt('2026-11-02T00:10:00.000Z')).toMatchObject({ isFinal: true })
})

test('late entries beyond the maximum of a statement are still counted', async () => {
  const entry = {
    position: 1,
    day: '2026-10-01',
    account: 'a',
    debitBaseUnits: '1',
    creditBaseUnits: '0',
    count: 5_000,
  }
  const range = { mint, after: 0, upto: 9, before: '2026-11-01' }
  const { entries, count } = await lateEntries(
    scriptedDatabase(() => [entry]),
    range,
  )
  expect([entries.length, count]).toEqual([1, 5_000])
  expect(
    (
      await lateEntries(
        scriptedDatabase(() => []),
        range,
      )
    ).count,
  ).toBe(0)
})
