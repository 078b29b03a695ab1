import { expect, test } from 'vitest'
import { ruleVerdicts } from '../../src/diagnosis/ruleVerdicts.ts'
import { ledgerStatement } from '../../src/diagnosis/statements.ts'
import { proofMaxAgeMs } from '../../src/payment/paymentAges.ts'
import type { PaymentEvent } from '../../src/payment/events.ts'
import { mint, referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'

const settlement = settlementOf(referenceNumber(1))
const landedAtMs = settlement.evidence.blockTimeMs
const record = {
  signature: '' as never,
  slot: 7,
  blockTimeMs: landedAtMs,
  failure: undefined,
  signers: [wallet],
  movements: [],
  balances: [],
  memos: [],
  bytes: undefined,
}
const terms = { mint, decimals: 6, tokenProgram: mint, paymentWallet: mint, paymentTokenAccount: mint, network: '' }

/** The rule about the age of a proof, an hour after it has landed. */
function judgeAge(presentedAfterMs: number | undefined) {
  const presentedAtMs = presentedAfterMs === undefined ? undefined : landedAtMs + presentedAfterMs
  const nowMs = landedAtMs + 3_600_000
  const { price } = settlement
  const question = { record, wallet, price, terms, quote: undefined, nowMs, presentedAtMs, isVerified: false }
  return ruleVerdicts(question).find(({ rule }) => rule === '8')?.verdict
}

test('a proof that was presented in time and could not be decided then is not too old later', () => {
  expect(judgeAge(proofMaxAgeMs)).toBe('passed')
  expect(judgeAge(proofMaxAgeMs + 1)).toBe('failed')
  expect(judgeAge(undefined)).toBe('failed')
})

test('the receipt of a delivered payment is that of the attempt that delivered', () => {
  const recordedEvent = (position: number, event: object) => {
    return { position, recordedAtMs: landedAtMs, leafHash: 'ab'.repeat(32), event: event as PaymentEvent }
  }
  // The records of two attempts, as a tab has them that was debited again.
  const events = [
    recordedEvent(1, { kind: 'TabDebited', attemptId: 'attempt_1' }),
    recordedEvent(2, { kind: 'RequestFulfilled', attemptId: 'attempt_2' }),
  ]
  const state = { phase: 'unknown', version: 0 } as const
  const { reference } = settlement
  const { receiptPath, positions } = ledgerStatement(reference, { kind: 'payment', stateName: '', state, events })
  expect(receiptPath).toBe(`/api/receipts/${encodeURIComponent(reference)}?attempt=attempt_2`)
  expect(positions).toEqual([1, 2])
})
