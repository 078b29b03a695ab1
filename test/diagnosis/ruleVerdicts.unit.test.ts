import { expect, test } from 'vitest'
import { type RulesQuestion, ruleVerdicts } from '../../src/diagnosis/ruleVerdicts.ts'
import { ledgerStatement } from '../../src/diagnosis/statements.ts'
import { proofMaxAgeMs, quoteGraceMs } from '../../src/payment/paymentAges.ts'
import type { PaymentEvent } from '../../src/payment/events.ts'
import type { QuoteFact } from '../../src/reports/paymentFacts.ts'
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

/** The verdicts of the rules for a payment that landed as its quote asks, with what the case changes. */
function verdictsOf(changed: Partial<RulesQuestion> & { readonly landed?: object } = {}) {
  const { landed = {}, ...more } = changed
  const { price } = settlement
  const own = { mint, tokenProgram: mint, authority: wallet, source: wallet }
  const base = {
    record: {
      ...record,
      movements: [
        { ...own, kind: 'burn', amountBaseUnits: price.burnBaseUnits },
        { ...own, kind: 'transfer', amountBaseUnits: price.requiredBaseUnits, destination: mint },
      ],
      balances: [
        { tokenAccount: wallet, mint, ownersSeen: [wallet], beforeBaseUnits: 10n ** 9n, afterBaseUnits: 0n },
        { tokenAccount: mint, mint, ownersSeen: [mint], beforeBaseUnits: 0n, afterBaseUnits: price.requiredBaseUnits },
      ],
      ...landed,
    },
    wallet,
    price,
    terms,
    quote: undefined,
    nowMs: landedAtMs + 1_000,
    presentedAtMs: undefined,
    isVerified: false,
    ...more,
  }
  const rules = ruleVerdicts(base as RulesQuestion)
  return Object.fromEntries(rules.map(({ rule, verdict, why }) => [rule, [verdict, why] as const]))
}

const quote: QuoteFact = {
  id: 'quote_1',
  wallet,
  memo: 'tollbook:abc',
  issuedAtMs: landedAtMs - 1_000,
  expiresAtMs: landedAtMs,
  slot: 7,
  price: { ...settlement.price, priceList: 1 },
}

test('a payment as its quote asks for it passes every rule, but that of the secret, which only its caller has', () => {
  const verdicts = verdictsOf({ quote, landed: { memos: [quote.memo] } })
  const passed = ['1b', '1d', '2a', '3', '4', '8', '9'].map((rule) => [rule, 'passed'])
  const verdictOf = ([rule, [verdict]]: readonly [string, readonly string[]]) => [rule, verdict]
  expect(Object.fromEntries(Object.entries(verdicts).map(verdictOf))).toEqual({
    ...Object.fromEntries(passed),
    '7': 'not_checked',
  })
  expect(verdicts['9']?.[1]).toBe('the price of quote_1')
})

test.each<readonly [string, Parameters<typeof verdictsOf>[0], string]>([
  ['1b', { landed: { failure: { text: 'no', insufficientFunds: false } } }, 'no'],
  ['1d', { quote: { ...quote, slot: 8 } }, 'it landed in slot 7, before slot 8'],
  ['2a', { landed: { signers: [mint] } }, 'sign'],
  ['3', { landed: { movements: [] } }, 'burned 0'],
  ['4', { landed: { balances: [] } }, 'received 0'],
  ['7', { landed: { memos: ['tollbook:a', 'tollbook:b'] } }, 'it has 2 memos of ours'],
  ['7', { landed: { memos: [quote.memo] } }, 'no quote on record has this memo'],
  [
    '7',
    { quote: { ...quote, memo: 'tollbook:other' }, landed: { memos: [quote.memo] } },
    'no quote on record has this memo',
  ],
])('rule %s fails alone, and says why: %o', (rule, changed, words) => {
  const [verdict, why] = verdictsOf(changed)[rule] ?? []
  expect([verdict, why]).toEqual(['failed', expect.stringContaining(words)])
  expect(verdictsOf(changed)['8']?.[0]).toBe('passed')
})

test('a memo of another program needs no secret, and a quote that was not open does not decide the price', () => {
  expect(verdictsOf({ landed: { memos: ['hello'] } })['7']).toEqual([
    'passed',
    expect.stringContaining('no memo of ours'),
  ])
  expect(verdictsOf()['1d']).toEqual(['not_checked', 'no quote was open for it'])
  const graceMs = quoteGraceMs
  expect(verdictsOf({ quote: { ...quote, expiresAtMs: landedAtMs - graceMs + 1 } })['9']?.[1]).toBe(
    'the price of quote_1',
  )
  expect(verdictsOf({ quote: { ...quote, expiresAtMs: landedAtMs - graceMs } })['9']?.[1]).toContain('price list')
  // Without a block time, the present decides, as for every other rule.
  const late = { nowMs: landedAtMs + 3_600_000, landed: { blockTimeMs: undefined } }
  expect(verdictsOf({ ...late, quote })['9']?.[1]).toContain('price list')
  expect(verdictsOf({ ...late, quote })['8']?.[0]).toBe('not_checked')
})

test('a verified payment is never too old', () => {
  expect(verdictsOf({ nowMs: landedAtMs + 10 ** 9, isVerified: true })['8']).toEqual([
    'passed',
    'the ledger has verified it',
  ])
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
  const { receiptPath, receiptId, positions } = ledgerStatement(reference, {
    kind: 'payment',
    stateName: '',
    state,
    events,
  })
  expect(receiptPath).toBe(`/api/receipts/${encodeURIComponent(reference)}?attempt=attempt_2`)
  expect(receiptId).toBe(`receipt_${'ab'.repeat(16)}`)
  expect(positions).toEqual([1, 2])
})
