import { expect, test } from 'vitest'
import { explanationText } from '../../src/cli/explanationText.ts'
import type { Explanation } from '../../src/diagnosis/explanation.ts'

const chain = {
  status: 'final',
  words: 'It is final.',
  blockTime: null,
  arrivedBaseUnits: '1500000',
  burnedBaseUnits: null,
}
const [startedAt, endedAt] = ['2026-11-28T01:00:00.000Z', '2026-11-28T01:00:02.000Z']
const attempts = [
  { attempt: 1, outcome: 'failed', reason: 'the upstream was silent', startedAt, endedAt },
  { attempt: 2, outcome: 'running', reason: null, startedAt: endedAt, endedAt: null },
]
const rules = [
  { rule: '5a', asks: 'does the transfer pay the price', verdict: 'failed', why: 'it is too small' },
  { rule: '6', asks: 'is it in time', verdict: 'not_checked', why: '' },
]
const explanation = {
  subject: 'signature',
  reference: 'signature',
  diagnosis: { code: 'pays_no_price', staff: 'for staff', caller: 'for the caller', booking: { words: 'refund it' } },
  chain: { ...chain, signers: ['one', 'two'] },
  ledger: null,
  quote: null,
  rules,
  attempts,
  decimals: 6,
  asOf: endedAt,
}

test('an explanation has amounts in tokens, each rule with its verdict, and attempts that still run', () => {
  // The text reads only these members.
  expect(explanationText(explanation as unknown as Explanation)).toBe(
    `signature: pays_no_price
  Diagnosis       for staff
  Caller          for the caller
  Finance         refund it

Chain
  Status          final. It is final.
  Arrived         1.5 tokens
  Signed by       one, two

Ledger
  The ledger has nothing under this reference.

Rules
  FAIL 5a  does the transfer pay the price: it is too small
    –  6   is it in time

Attempts
  1  failed: the upstream was silent  ${startedAt} to ${endedAt}
  2  running  ${endedAt} to now

As of ${endedAt}
`,
  )
})
