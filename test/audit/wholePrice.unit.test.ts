import { expect, test } from 'vitest'
import { sampleAddress } from '../store/samplePayment.ts'
import {
  allocated,
  blockTimeMs,
  burn,
  burnOwed,
  claimed,
  exposed,
  failed,
  type Fields,
  fulfilled,
  listed,
  notExposed,
  over,
  owed,
  paid,
  paidWhole,
  price,
  reference,
  released,
  type ReplayedLedger,
  required,
  served,
  servedOwingBurn,
  settlement,
  tokensBurned,
  wallet,
  wholePrice,
} from './replayedLedger.ts'

/*
 * The rules of the auditor for a payment of the whole price. The service owes its burn from the delivery on.
 */

const { mint, endpoint } = price

const delivered = ['RequestFulfilled', fulfilled] as const
const shared = ['DistributionAllocated', allocated] as const
const refund = (ledger: ReplayedLedger, baseUnits: number) =>
  released(ledger)
    .append(reference, ['PaymentFinalized', { slot: 100, ...notExposed }])
    .append(reference, ['RefundDue', { wallet, mint, refundBaseUnits: String(baseUnits) }])
const dropped = (ledger: ReplayedLedger, given: Fields) => {
  const amounts = {
    unearnedBaseUnits: '0',
    lostBaseUnits: String(owed),
    overpaidBaseUnits: String(over),
    burnOwedBaseUnits: '0',
  }
  const reversed = { reason: 'absent', finalizedSlot: 500, wallet, endpoint, ...exposed, ...amounts, ...given }
  return ledger.append(reference, ['PaymentReversed', reversed])
}
const undelivered = { lostBaseUnits: '0', ...notExposed }

test('a payment of the whole price owes its burn from the delivery on', () => {
  const ledger = servedOwingBurn()
  expect(ledger.findings()).toEqual([])
  expect(ledger.balances()['Liabilities:BurnOwed']).toBe(-burn)
  expect(ledger.balances()['Liabilities:Unearned']).toBeUndefined()
})

test('a payment of the whole price that bought nothing is owed back whole', () => {
  expect(refund(paidWhole(), required).findings()).toEqual([])
})

test('a payment of the whole price that the chain drops takes back what it holds', () => {
  const before = dropped(released(paidWhole()), { ...undelivered, unearnedBaseUnits: String(required) })
  const after = dropped(servedOwingBurn(), { burnOwedBaseUnits: String(burn) })
  for (const ledger of [before, after]) {
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()['Liabilities:BurnOwed']).toBeUndefined()
  }
})

test.each([
  ['delivered without its burn', () => served(paidWhole()), ['append_incomplete', 4]],
  ['owed twice with its delivery', () => paidWhole().append(reference, delivered, burns(), burns(), shared), twice(6)],
  [
    'owed with its claim',
    () => listed().append(reference, ['PaymentVerified', wholePrice], burns(), ['ProofClaimed', claimed]),
    ['append_incomplete', 2],
  ],
  ['owed outside its delivery', () => paidWhole().append(reference, burns()), twice(4)],
  ['owed for a burn inside', () => servedOwingBurn(paid()), twice(6)],
  ['owed to another amount', () => paidWhole().append(reference, delivered, burns('1'), shared), ['burn_differs', 5]],
  [
    'owed at another time than its delivery',
    () => paidWhole().append(reference, [...delivered, blockTimeMs + 1], burns(), shared),
    ['burn_differs', 5],
  ],
  ['refunded without a burn that is not owed', () => refund(paidWhole(), owed), ['refund_differs', 6]],
  [
    'dropped with a burn that is not owed',
    () =>
      dropped(released(paidWhole()), {
        ...undelivered,
        unearnedBaseUnits: String(owed),
        burnOwedBaseUnits: String(burn),
      }),
    ['reversal_differs', 5],
  ],
] as const)('a payment of the whole price %s is found', (_, ledger, finding) => {
  expect(ledger().findings()).toContainEqual(finding)
})

function burns(owedBaseUnits = String(burn)): readonly [string, Fields] {
  return ['BurnOwed', { ...burnOwed, owedBaseUnits }]
}

/** A `BurnOwed` that belongs to no event before it. */
function twice(position: number): readonly ['lifecycle_impossible', number] {
  return ['lifecycle_impossible', position]
}

test.each([
  ['as it was sent', {}, []],
  ['for another wallet', { wallet: sampleAddress() }, [['owner_differs', 3]]],
  ['for another endpoint', { endpoint: '/api/other' }, [['owner_differs', 3]]],
] as const)('a payment that the service sent is verified %s', (_, given, findings) => {
  const sent = { wallet, endpoint, quoteId: null, transactionBase64: 'AA==', ...given }
  const events = [
    ['PaymentVerified', settlement()],
    ['TokensBurned', tokensBurned],
    ['ProofClaimed', claimed],
  ] as const
  expect(
    listed()
      .append(reference, ['PaymentSubmitted', sent])
      .append(reference, ...events)
      .findings(),
  ).toEqual(findings)
})

test.each([
  [1, []],
  [2, [['attempt_wrong', 6]]],
  [0, [['attempt_wrong', 6]]],
])('a payment that ends after one attempt and counts %d attempts', (attempts, findings) => {
  const ledger = paid().append(reference, ['RequestFailed', failed], ['AttemptsExhausted', { attempts }])
  expect(ledger.findings()).toEqual(findings)
})

test('an event that cannot be read may have completed its append, so that only the event is found', () => {
  const unreadable = { ...claimed, unknown: 1 }
  const ledger = listed().append(
    reference,
    ['PaymentVerified', settlement()],
    ['TokensBurned', tokensBurned],
    ['ProofClaimed', unreadable],
  )
  expect(ledger.findings()).toEqual([['body_unreadable', 4]])
})
