import { describe, expect, test } from 'vitest'
import { burnFiguresOf } from '../../packages/audit/src/burnFigures.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import {
  burn,
  exposed,
  type Fields,
  over,
  owed,
  price,
  reference,
  type ReplayedLedger,
  required,
  reversal,
  served,
  servedOwingBurn,
  signed,
  wallet,
} from './replayedLedger.ts'

/* The rules of the auditor for tokens that leave the payment wallet: owed burns and payouts. */

const { mint, endpoint } = price

describe('an owed burn', () => {
  const burnStream = `solana:${signed(9)}`
  const parts = [{ endpoint, baseUnits: String(burn) }]
  const submitted = {
    round: 1,
    mint,
    throughPosition: 5,
    burnBaseUnits: String(burn),
    parts,
    lastValidHeight: 700,
    transactionBase64: 'AA==',
  }
  const confirmed = { round: 1, mint, burnedBaseUnits: String(burn), slot: 900, parts }
  const burnt = (ledger: ReplayedLedger, sent: Fields = submitted, done: Fields = confirmed) =>
    ledger.append(burnStream, ['BurnSubmitted', sent]).append(burnStream, ['BurnConfirmed', done])

  test('is a debt until a round of burning is confirmed, and then a burn of its endpoint', () => {
    const ledger = servedOwingBurn()
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()).toMatchObject({
      'Assets:PaymentWallet': required + over,
      'Liabilities:BurnOwed': -burn,
      'Liabilities:Overpaid:…': -over,
    })
    const after = burnt(ledger)
    expect(after.findings()).toEqual([])
    expect(after.balances()).toMatchObject({
      'Assets:PaymentWallet': owed + over,
      'Expenses:Burned:/api/data/weather': burn,
      'Income:BurnedByCallers': -burn,
    })
    expect(after.balances()['Liabilities:BurnOwed']).toBeUndefined()
  })

  test('may name the state of the delegate before its round', () => {
    const delegate = { allowanceBaseUnits: '18446744073709551615', lamports: '5000' }
    expect(burnt(servedOwingBurn(), { ...submitted, delegate }).findings()).toEqual([])
  })

  test('of a reversed payment is no longer owed', () => {
    const taken = { burnOwedBaseUnits: String(burn) }
    const ledger = servedOwingBurn().append(reference, ['PaymentReversed', reversal(taken)])
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()['Liabilities:BurnOwed']).toBeUndefined()
  })

  test.each([
    ['of nothing that is owed', burnt(served()), ['burn_exceeds', 7]],
    [
      'of more than is owed',
      burnt(servedOwingBurn(), {
        ...submitted,
        burnBaseUnits: '3000001',
        parts: [{ endpoint, baseUnits: '3000001' }],
      }),
      ['burn_exceeds', 7],
    ],
    [
      'of more than was submitted',
      burnt(servedOwingBurn(), submitted, {
        ...confirmed,
        burnedBaseUnits: '3000001',
        parts: [{ endpoint, baseUnits: '3000001' }],
      }),
      ['burn_differs', 8],
    ],
    [
      'for an endpoint that owes none',
      burnt(
        servedOwingBurn(),
        { ...submitted, parts: [{ endpoint: '/api/other', baseUnits: String(burn) }] },
        { ...confirmed, parts: [{ endpoint: '/api/other', baseUnits: String(burn) }] },
      ),
      ['burn_exceeds', 8],
    ],
    ['whose parts are not the whole', burnt(servedOwingBurn(), { ...submitted, parts: [] }), ['burn_differs', 7]],
    [
      'that was never submitted',
      servedOwingBurn().append(burnStream, ['BurnConfirmed', confirmed]),
      ['lifecycle_impossible', 7],
    ],
    [
      'that reaches beyond itself',
      burnt(servedOwingBurn(), { ...submitted, throughPosition: 7 }),
      ['lifecycle_impossible', 7],
    ],
    [
      'in the transaction of a payment',
      servedOwingBurn().append(reference, ['BurnSubmitted', submitted]),
      ['lifecycle_impossible', 7],
    ],
  ] as const)('%s is found', (_, ledger, finding) => {
    expect(ledger.findings()).toContainEqual(finding)
  })

  test('of a failed round stays owed, and the next round confirms it', () => {
    const failed = { round: 1, mint, reason: 'absent', finalizedSlot: 900 }
    const ledger = servedOwingBurn().append(burnStream, ['BurnSubmitted', submitted])
    ledger.append(burnStream, ['BurnFailed', failed])
    expect(ledger.balances()['Liabilities:BurnOwed']).toBe(-burn)
    const next = `solana:${signed(10)}`
    ledger.append(next, ['BurnSubmitted', { ...submitted, round: 2 }])
    ledger.append(next, ['BurnConfirmed', { ...confirmed, round: 2 }])
    expect(ledger.findings()).toEqual([])
    expect(burnFiguresOf(ledger.replay)).toEqual([
      { mint, insidePaymentsBaseUnits: '0', confirmedBaseUnits: '3000000', owedBaseUnits: '0', confirmedRounds: 1 },
    ])
  })

  test('of a round that begins while another is open is found, and so is another round that fails', () => {
    const twice = servedOwingBurn().append(burnStream, ['BurnSubmitted', submitted])
    twice.append(`solana:${signed(10)}`, ['BurnSubmitted', { ...submitted, round: 2 }])
    twice.append(burnStream, ['BurnFailed', { round: 2, mint, reason: 'failed', finalizedSlot: 900 }])
    expect(twice.findings()).toEqual([
      ['lifecycle_impossible', 8],
      ['burn_differs', 9],
    ])
  })

  test('of two mints is burned in separate rounds, and both may be open', () => {
    const ledger = servedOwingBurn().append(burnStream, ['BurnSubmitted', submitted])
    const [other, elsewhere] = [sampleAddress(), `solana:${signed(10)}`]
    ledger.append(elsewhere, ['BurnSubmitted', { ...submitted, mint: other, round: 1 }])
    // Nothing is owed in the other mint, and the open round of this mint does not block its round.
    expect(ledger.findings()).toEqual([['burn_exceeds', 8]])
  })

  test('that is confirmed for other endpoints than it was submitted for is found', () => {
    const split = (first: number) => ({
      parts: [
        { endpoint, baseUnits: String(first) },
        { endpoint: '/api/other', baseUnits: String(burn - first) },
      ],
    })
    const ledger = burnt(servedOwingBurn(), { ...submitted, ...split(burn) }, { ...confirmed, ...split(burn - 1) })
    expect(ledger.findings()).toContainEqual(['burn_differs', 8])
  })

  test('of a round that was burned already is found', () => {
    const twice = burnt(servedOwingBurn()).append(`solana:${signed(10)}`, ['BurnSubmitted', submitted])
    expect(twice.findings()).toContainEqual(['lifecycle_impossible', 9])
  })
})

describe('a payout', () => {
  const other = signed(2)
  const payout = (paidBaseUnits: string, account = 'Liabilities:Share:provider', wallet = sampleAddress()): Fields => {
    const payments = [{ account, wallet, paidBaseUnits }]
    return { signature: other, planId: 'payout_1', part: 1, mint: sampleMint, slot: 900, payments }
  }
  const pay = (fields: Fields, ledger = served()) => ledger.append(`solana:${other}`, ['DistributionPaid', fields])

  test('of all that is owed leaves nothing owed', () => {
    const ledger = pay(payout('5000000'))
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()['Liabilities:Share:provider']).toBeUndefined()
    expect(ledger.replay.streams.find(`solana:${other}`)?.state).toBe('paid')
    expect(pay(payout('11', `Liabilities:Overpaid:${wallet}`, wallet)).findings()).toEqual([])
  })

  test.each([
    ['of more than is owed', payout('5000001'), 'payout_exceeds'],
    ['of an account that is not a debt', payout('1', 'Liabilities:Unearned'), 'lifecycle_impossible'],
    ['of what is owed to be burned', payout('1', 'Liabilities:BurnOwed'), 'lifecycle_impossible'],
    ['of what is owed to one wallet to another', payout('1', `Liabilities:Overpaid:${wallet}`), 'owner_differs'],
    ['in another stream', { ...payout('1'), signature: signed(3) }, 'lifecycle_impossible'],
  ] as const)('%s is found', (_, fields, code) => {
    expect(pay(fields).findings()).toContainEqual([code, 7])
  })

  test('that is recorded twice is found', () => {
    expect(pay(payout('1'), pay(payout('1'))).findings()).toContainEqual(['lifecycle_impossible', 8])
  })

  test('in the transaction of a payment is found, and so is a payment in the transaction of a payout', () => {
    const own = { ...payout('1'), signature: reference.slice('solana:'.length) }
    expect(served().append(reference, ['DistributionPaid', own]).findings()).toContainEqual(['lifecycle_impossible', 7])
    const received = { wallet, mint: sampleMint, receivedBaseUnits: '5', slot: 700 }
    const again = pay(payout('1')).append(`solana:${other}`, ['TransferReceived', received])
    expect(again.findings()).toContainEqual(['lifecycle_impossible', 8])
  })
})

describe('a refund that finance grants', () => {
  const stream = reference.replace('solana:', 'refund:')
  const final = () => served().append(reference, ['PaymentFinalized', { slot: 100, ...exposed }])
  const decision = { by: 'mira', login: 'finance', reason: 'asked', role: 'finance', payment: reference, wallet, mint }
  const grant = (given: Fields, ledger = final(), to = stream) =>
    ledger.append(to, ['RefundGranted', { ...decision, amountBaseUnits: String(required), ...given }])

  test('is owed to the wallet that paid, up to its price', () => {
    const ledger = grant({})
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()['Liabilities:RefundsDue:…']).toBe(-required)
  })

  test.each<readonly [name: string, ledger: () => ReplayedLedger, code: string]>([
    ['of more than its price', () => grant({ amountBaseUnits: String(required + 1) }), 'refund_differs'],
    ['of nothing', () => grant({ amountBaseUnits: '0' }), 'refund_differs'],
    ['to another wallet', () => grant({ wallet: sampleAddress() }), 'owner_differs'],
    ['in another mint', () => grant({ mint: sampleAddress() }), 'owner_differs'],
    ['before the payment is final', () => grant({}, served()), 'lifecycle_impossible'],
    ['a second time', () => grant({}, grant({})), 'lifecycle_impossible'],
    ['in the stream of another payment', () => grant({}, final(), `refund:${signed(9)}`), 'lifecycle_impossible'],
    ['of a payment that there is not', () => grant({ payment: `solana:${signed(9)}` }), 'lifecycle_impossible'],
    [
      'of a payout',
      () => grant({ payment: `solana:${signed(2)}` }, paidOut(final()), `refund:${signed(2)}`),
      'lifecycle_impossible',
    ],
  ])('%s is found', (_, ledgerOf, code) => {
    expect(ledgerOf().codes()).toContain(code)
  })

  const paidOut = (ledger: ReplayedLedger) => {
    const fields = { signature: signed(2), planId: 'payout_1', part: 1, mint, slot: 900, payments: [] }
    return ledger.append(`solana:${signed(2)}`, ['DistributionPaid', fields])
  }
})

test('a refund may be approved for the debts of its wallet, and not for a debt of another wallet', () => {
  const decision = { by: 'mira', login: 'finance', reason: 'asked', role: 'finance', payment: reference, wallet, mint }
  const approving = (of: string, debt = 'Overpaid') => {
    const debts = [{ account: `Liabilities:${debt}:${of}`, baseUnits: String(over) }]
    const stream = reference.replace('solana:', 'refund:')
    return served()
      .append(stream, ['RefundApproved', { ...decision, debts }])
      .findings()
  }
  expect(approving(wallet)).toEqual([])
  expect(approving(sampleAddress())).toEqual([['owner_differs', 7]])
  for (const debt of ['RefundsDue', 'Unmatched']) expect(approving(wallet, debt)).toEqual([])
  for (const debt of ['Share', 'Prepaid']) expect(approving(wallet, debt)).toEqual([['owner_differs', 7]])
})
