import { expect, test } from 'vitest'
import { isoTime } from '@tollbook/core/clock'
import { diagnose, type DiagnosisQuestion } from '../../src/diagnosis/diagnose.ts'
import { diagnosisCodes } from '../../src/diagnosis/explanation.ts'
import type { ChainAnswer } from '../../src/diagnosis/statements.ts'
import { readSubject } from '../../src/diagnosis/readSubject.ts'
import { settleAgeMs } from '../../src/payment/paymentAges.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import type { RecordedPayment } from '../../src/reports/paymentFacts.ts'
import { sampleSettlement } from '../store/samplePayment.ts'

const settlement = sampleSettlement()
const landedAtMs = Date.parse('2026-11-21T10:00:00.000Z')
const record = {
  signature: '' as never,
  slot: 7,
  blockTimeMs: landedAtMs,
  failure: undefined,
  signers: [],
  movements: [],
  balances: [],
  memos: [],
  bytes: undefined,
}
const found = (more: object = {}): ChainAnswer => ({
  kind: 'found',
  slot: 7,
  nodes: 1,
  isAgreed: true,
  record: { ...record, ...more },
})
const unseen: ChainAnswer = {
  kind: 'unknown',
  why: 'no node has it up to slot 9',
  isSeen: false,
  isAgreed: true,
  slot: 9,
}

const nothing: DiagnosisQuestion = {
  answer: unseen,
  recorded: undefined,
  attempts: [],
  rules: [],
  buys: [],
  arrivedBaseUnits: 0n,
  decimals: 6,
}

function recorded(phase: string, isFinal = true): RecordedPayment {
  const state = { phase, version: 3, settlement, attempt: 1, endpoint: '/api/x', isFinal } as PaymentState
  return { kind: 'payment', stateName: phase, state, events: [] }
}

const paidUs = { answer: found(), arrivedBaseUnits: 3_500_000n }
const late = [{ rule: '8', asks: '', verdict: 'failed', why: 'late' }] as const

const cases: readonly (readonly [code: string, booking: string | null, question: Partial<DiagnosisQuestion>])[] = [
  ['delivered', null, { recorded: recorded('fulfilled') }],
  ['being_served', null, { recorded: recorded('claimed') }],
  ['not_delivered', 'refund', { recorded: recorded('released') }],
  ['not_delivered', null, { recorded: recorded('released', false) }],
  ['not_delivered', null, { recorded: { ...recorded('released'), kind: 'tab_request' } }],
  ['delivered', null, { recorded: { ...recorded('fulfilled'), kind: 'tab_request' } }],
  ['attempts_exhausted', null, { recorded: recorded('exhausted', false) }],
  ['refund_due', null, { recorded: recorded('refund_due') }],
  ['reversed', null, { recorded: recorded('reversed') }],
  ['unmatched', null, { recorded: recorded('unmatched') }],
  ['submitted', null, { recorded: recorded('submitted') }],
  ['payout', null, { recorded: { ...recorded('unmatched'), kind: 'payout' } }],
  ['burn', null, { recorded: { ...recorded('unmatched'), kind: 'burn' } }],
  ['never_presented', 'unmatched', { ...paidUs, buys: ['/api/x'] }],
  ['presented_too_late', 'unmatched', { ...paidUs, buys: ['/api/x'], rules: late }],
  ['pays_no_price', 'unmatched', paidUs],
  ['paid_elsewhere', null, { answer: found() }],
  ['failed_on_chain', null, { answer: found({ failure: { text: 'error', insufficientFunds: false } }) }],
  ['not_confirmed', null, { answer: { kind: 'unknown', why: 'young', isSeen: true, isAgreed: false, slot: 9 } }],
  ['not_on_chain', null, {}],
  ['chain_unavailable', null, { answer: { kind: 'unavailable', why: 'no node answers' } }],
]

test.each(cases)('%s is diagnosed, with the booking %s, and says what to do next', (code, booking, question) => {
  const diagnosis = diagnose({ ...nothing, ...question })
  expect([diagnosis.code, diagnosis.booking?.kind ?? null]).toEqual([code, booking])
  expect(diagnosis.staff).toMatch(/^[A-Z0-9].*\.$/)
  expect(diagnosis.caller).toMatch(/^[A-Z].*\.$/)
})

test('every diagnosis has a case, but that of a quote, which is asked for without a payment', () => {
  expect(new Set([...cases.map(([code]) => code), 'quote_not_paid'])).toEqual(new Set(diagnosisCodes))
})

test('a payment that may still buy is never told to pay again', () => {
  for (const [code, , question] of cases.filter(
    ([each]) => !['reversed', 'failed_on_chain', 'not_on_chain', 'submitted'].includes(each),
  ))
    expect(diagnose({ ...nothing, ...question }).caller, code).not.toMatch(/new payment/i)
})

test('tokens that came too late are owed to their sender when no caller may still present them', () => {
  const { caller } = diagnose({ ...nothing, ...paidUs, rules: late })
  expect(caller).toContain(`owed to the sender at ${isoTime(landedAtMs + settleAgeMs)}`)
  const unknown = { ...paidUs, answer: found({ blockTimeMs: undefined }), rules: late }
  expect(diagnose({ ...nothing, ...unknown }).caller).toContain('owed to the sender, and')
})

test('a payment without a delivery becomes a refund a day after its first attempt, however many follow', () => {
  const attemptAt = (attempt: number, startedAt: string) => {
    return {
      attempt,
      attemptId: `attempt_${attempt}`,
      startedAt,
      endedAt: null,
      outcome: 'failed',
      reason: 'timeout',
    } as const
  }
  const attempts = [attemptAt(1, '2026-11-21T10:00:00.000Z'), attemptAt(2, '2026-11-22T09:00:00.000Z')]
  const { staff } = diagnose({ ...nothing, recorded: recorded('released'), attempts })
  expect(staff).toContain('2 attempts delivered nothing (last attempt: timeout)')
  expect(staff).toContain('2026-11-22T10:00:00.000Z')
})

test('a subject is read by its form, and any other text is none', () => {
  expect(readSubject(`quote_${'a'.repeat(22)}`)?.kind).toBe('quote')
  expect(readSubject(`receipt_${'0'.repeat(32)}`)?.kind).toBe('receipt')
  expect(readSubject(settlement.reference)?.kind).toBe('payment')
  for (const text of ['', 'quote_', 'hello', `receipt_${'g'.repeat(32)}`, 'solana:x', '1'.repeat(1_000)])
    expect(readSubject(text), text.slice(0, 20)).toBeUndefined()
})
