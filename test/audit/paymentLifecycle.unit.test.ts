import { describe, expect, test } from 'vitest'
import { readPrice } from '../../packages/audit/src/price.ts'
import { AuditState } from '../../packages/audit/src/auditState.ts'
import { PublishedPrices } from '../../packages/audit/src/publishedPrices.ts'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import {
  attempt,
  blockTimeMs,
  burn,
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
  price,
  reference,
  released,
  ReplayedLedger,
  required,
  reversal,
  served,
  settlement,
  split,
  tokensBurned,
  wallet,
} from './replayedLedger.ts'

/* The rules of the auditor, event by event, on bodies written by hand. */

const { mint } = price

function reverse(ledger: ReplayedLedger, given: Fields = {}, burned: Fields = tokensBurned): ReplayedLedger {
  return ledger.append(reference, ['PaymentReversed', reversal(given)], ['BurnReversed', burned])
}

function finalize(ledger: ReplayedLedger, exposure: Fields): ReplayedLedger {
  return ledger.append(reference, ['PaymentFinalized', { slot: 100, ...exposure }])
}

describe('a setting', () => {
  const key = {
    name: 'sample-setting',
    number: 1,
    validFrom: '2026-11-21T10:30:00.000Z',
    value: { x: 'abc', at: [1, 2.5] },
  }

  test('counts from 1 within its name', () => {
    const ledger = listed().append('sample-setting#1', ['SettingChanged', key])
    expect(ledger.append('sample-setting#2', ['SettingChanged', { ...key, number: 2 }]).findings()).toEqual([])
    const gap = listed().append('sample-setting#2', ['SettingChanged', { ...key, number: 2 }])
    expect(gap.findings()).toEqual([['version_missing', 2]])
  })

  test('that gives a mint other decimals than its prices is found, before or after them', () => {
    const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
    const name = `mint/${price.mint}`
    const of = (decimals: number) => ({ ...key, name, value: { decimals, tokenProgram } })
    expect(
      listed()
        .append(`${name}#1`, ['SettingChanged', of(6)])
        .findings(),
    ).toEqual([])
    expect(
      listed()
        .append(`${name}#1`, ['SettingChanged', of(9)])
        .findings(),
    ).toEqual([['setting_wrong', 2]])
    const before = new ReplayedLedger().append(`${name}#1`, ['SettingChanged', of(9)])
    const list = { source: 'fixed', split, prices: [price] }
    expect(before.append('prices#1', ['PriceListPublished', list]).findings()).toEqual([['price_wrong', 2]])
  })

  test.each([
    ['in the stream of another name', 'other#1', key],
    ['that takes effect at another time', 'sample-setting#1', { ...key, validFrom: '2026-11-21T10:31:00.000Z' }],
    ['that would set prices', 'prices#2', { ...key, name: 'prices', number: 2 }],
  ] as const)('%s is found', (_, stream, fields) => {
    expect(listed().append(stream, ['SettingChanged', fields]).codes()).toContain('lifecycle_impossible')
  })
})

describe('a payment', () => {
  test('that is served divides what is received among the accounts of its price', () => {
    const ledger = served()
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()).toEqual({
      'Assets:PaymentWallet': owed + over,
      'Expenses:Burned:/api/data/weather': burn,
      'Income:BurnedByCallers': -burn,
      'Liabilities:Overpaid:…': -over,
      'Liabilities:Share:provider': -5_000_000,
      'Liabilities:Share:holders': -1_500_000,
      'Liabilities:Share:treasury': -500_000,
      'Memo:Exposed': required,
      'Memo:ExposedContra': -required,
    })
  })

  test.each([
    ['another order', price.shares, 'reversed'],
    ['one account less', price.shares, 'cut'],
  ] as const)('whose shares are allocated in %s is found', (_, __, how) => {
    const { shares } = price
    const parts = how === 'cut' ? shares.slice(1) : shares.toReversed()
    const ledger = paid().append(reference, ['RequestFulfilled', fulfilled], ['DistributionAllocated', { mint, parts }])
    expect(ledger.findings()).toEqual([['distribution_differs', 6]])
  })

  test('whose price divides by no split in force is found', () => {
    const shares = [{ account: 'provider', baseUnits: '7000000' }]
    const ledger = listed().append(
      reference,
      ['PaymentVerified', settlement({ price: { ...price, shares } })],
      ['TokensBurned', tokensBurned],
      ['ProofClaimed', claimed],
    )
    expect(ledger.findings()).toEqual([
      ['price_wrong', 2],
      ['price_not_published', 2],
    ])
  })

  const tenDaysMs = 10 * 24 * 60 * 60 * 1000
  const doubled = {
    ...price,
    tokenPriceAttoUsd: '500000000000000',
    requiredBaseUnits: String(2 * required),
    burnBaseUnits: String(2 * burn),
    shares: price.shares.map(({ account, baseUnits }) => ({ account, baseUnits: String(2 * Number(baseUnits)) })),
  }
  /** Ten days after another list was published, a payment of the first list's price is recorded. */
  const paidLate = (landedAtMs: number, given: Fields) => {
    const evidence = { kind: 'solana', slot: 100, blockTimeMs: landedAtMs, transactionBase64: null }
    return listed()
      .append('prices#2', ['PriceListPublished', { source: 'market', split, prices: [doubled] }])
      .wait(tenDaysMs)
      .append(
        reference,
        ['PaymentVerified', settlement({ evidence, ...given }), landedAtMs],
        ['TokensBurned', tokensBurned, landedAtMs],
        ['ProofClaimed', claimed, landedAtMs],
      )
  }

  test.each([
    ['that landed while its list was in force', blockTimeMs, {}, []],
    ['that landed then and names its list', blockTimeMs, { priceList: 1 }, []],
    ['that landed then and names the later list', blockTimeMs, { priceList: 2 }, ['price_not_published']],
    ['that landed long after', blockTimeMs + tenDaysMs, {}, ['price_not_published']],
    ['that landed long after and names its list', blockTimeMs + tenDaysMs, { priceList: 1 }, ['price_not_published']],
  ] as const)(
    '%s is judged by the lists of its landing, however late it is recorded',
    (_, landedAtMs, given, codes) => {
      expect(paidLate(landedAtMs, given).codes()).toEqual(codes)
    },
  )

  const readListed = (listed: Fields) => readPrice(JSON.parse(canonicalJson(listed)))

  test('is judged by the lists of its landing also by an audit that was resumed in between', () => {
    const { replay } = paidLate(blockTimeMs, {})
    const resumed = new PublishedPrices(replay.state)
    const [first, second] = [readListed(price), readListed(doubled)]
    expect([resumed.offers(first, blockTimeMs), resumed.offers(first, blockTimeMs + tenDaysMs)]).toEqual([true, false])
    expect([resumed.has(1, first.digest), resumed.has(2, first.digest)]).toEqual([true, false])
    expect([resumed.has(2, second.digest), resumed.knows(3)]).toEqual([true, false])
  })

  test('is judged by a list for three days after another replaced it', () => {
    const prices = new PublishedPrices(AuditState.small())
    for (const [number, recordedAtMs] of [
      [1, 0],
      [2, blockTimeMs],
    ] as const)
      prices.publish({ number, recordedAtMs, split: [], splitOf: () => [], prices: [], metered: [] })
    const lastMs = blockTimeMs + 3 * 24 * 60 * 60 * 1000
    expect([prices.isInForce(1, lastMs), prices.isInForce(1, lastMs + 1)]).toEqual([true, false])
  })

  test('that was verified and neither burned nor claimed in the same append is found', () => {
    expect(listed().append(reference, ['PaymentVerified', settlement()]).findings()).toEqual([['append_incomplete', 2]])
    const apart = listed()
      .append(reference, ['PaymentVerified', settlement()], ['TokensBurned', tokensBurned])
      .append(reference, ['ProofClaimed', claimed])
    expect(apart.findings()).toEqual([['append_incomplete', 4]])
  })

  test('that burned less than its price is found, because the burn is inside or owed', () => {
    const less = settlement({ burnedBaseUnits: '1', receivedBaseUnits: String(required) })
    const ledger = listed().append(reference, ['PaymentVerified', less], ['ProofClaimed', claimed])
    expect(ledger.findings()).toEqual([['payment_short', 2]])
  })
})

test.each([
  ['3 again', 3, 'lifecycle_impossible'],
  ['5', 5, 'version_missing'],
] as const)('version %s of a stream after version 3 is found', (_, version, code) => {
  expect(
    paid()
      .append(reference, ['RequestFailed', { ...failed, version }])
      .findings(),
  ).toEqual([[code, 5]])
})

describe('exposure', () => {
  test('is the price while an answer may be given for what the chain may drop', () => {
    const ledger = finalize(served(), exposed)
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()['Memo:Exposed']).toBeUndefined()
    const again = finalize(released(), notExposed).append(reference, [
      'ProofClaimed',
      { ...claimed, attempt: 2, ...notExposed },
    ])
    expect(again.findings()).toEqual([])
  })

  test.each([
    ['too little of it at a claim', { ...claimed, exposedBaseUnits: '1' }],
    ['none of it at a claim', { ...claimed, ...notExposed }],
  ] as const)('with %s is found', (_, claim) => {
    const ledger = listed().append(
      reference,
      ['PaymentVerified', settlement()],
      ['TokensBurned', tokensBurned],
      ['ProofClaimed', claim],
    )
    expect(ledger.findings()).toEqual([['exposure_differs', 4]])
  })

  test('that stays after a failure, or ends twice, is found', () => {
    const stays = paid().append(reference, ['RequestFailed', { ...failed, ...notExposed }])
    expect(stays.findings()).toEqual([['exposure_differs', 5]])
    expect(finalize(released(), exposed).findings()).toEqual([['exposure_differs', 6]])
  })
})

describe('a lease', () => {
  // Each append is recorded a second after the one before it, and a lease has a minute.
  test('that has ended lets another attempt take over, and not a millisecond sooner', () => {
    const takeover = (waitMs: number) =>
      paid()
        .wait(waitMs)
        .append(
          reference,
          ['RequestFailed', { ...failed, reason: 'lease_expired' }],
          ['ProofClaimed', { ...claimed, attempt: 2, attemptId: 'attempt_2' }],
        )
    expect(takeover(59_000).findings()).toEqual([])
    expect(takeover(58_999).findings()).toEqual([['lifecycle_impossible', 5]])
  })

  test('is renewed by the start of a streamed answer', () => {
    const ended = (waitMs: number) =>
      paid()
        .wait(50_000)
        .append(reference, ['AnswerStarted', attempt])
        .wait(waitMs)
        .append(reference, ['RequestFailed', { ...failed, reason: 'lease_expired' }])
    expect(ended(59_000).findings()).toEqual([])
    expect(ended(58_999).findings()).toEqual([['lifecycle_impossible', 6]])
  })
})

describe('a streamed answer', () => {
  const broken = { ...attempt, bytes: 12, digest: 'ef', ...exposed }

  test('ends fulfilled or broken', () => {
    const started = () => paid().append(reference, ['AnswerStarted', attempt])
    expect(served(started()).findings()).toEqual([])
    expect(started().append(reference, ['AnswerBroken', broken]).findings()).toEqual([])
  })

  test.each([
    ['breaks before it begins', paid().append(reference, ['AnswerBroken', broken]), 5],
    ['begins twice', paid().append(reference, ['AnswerStarted', attempt], ['AnswerStarted', attempt]), 6],
    ['fails otherwise', paid().append(reference, ['AnswerStarted', attempt], ['RequestFailed', failed]), 6],
  ] as const)('that %s is found', (_, ledger, position) => {
    expect(ledger.findings()).toEqual([['lifecycle_impossible', position]])
  })
})

describe('finality', () => {
  test('comes once to a payment that is not being served', () => {
    expect(finalize(finalize(served(), exposed), notExposed).findings()).toEqual([['lifecycle_impossible', 8]])
    expect(finalize(paid(), exposed).findings()).toEqual([['lifecycle_impossible', 5]])
  })
})

describe('a reversal', () => {
  test('of a served payment is a loss, leaves the shares owed, and takes the burn out of its hour', () => {
    const ledger = reverse(served())
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()).toEqual({
      'Expenses:ReversedPayments': owed,
      'Liabilities:Share:provider': -5_000_000,
      'Liabilities:Share:holders': -1_500_000,
      'Liabilities:Share:treasury': -500_000,
    })
    expect(ledger.hours()).toEqual(['0 of 0'])
  })

  test('of a payment that was not served leaves nothing', () => {
    const taken = { unearnedBaseUnits: String(owed), lostBaseUnits: '0', ...notExposed }
    const ledger = reverse(released(), taken)
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()).toEqual({})
  })

  test.each([
    ['another amount', { lostBaseUnits: '1' }, 'reversal_differs'],
    ['the loss and the debt confused', { lostBaseUnits: '0', unearnedBaseUnits: String(owed) }, 'reversal_differs'],
    ['a burn that was never owed', { burnOwedBaseUnits: '1' }, 'reversal_differs'],
    ['less exposure than there was', notExposed, 'exposure_differs'],
    ['another wallet', { wallet: sampleAddress() }, 'owner_differs'],
    ['another endpoint', { endpoint: '/api/other' }, 'owner_differs'],
  ] as const)('with %s is found', (_, given, code) => {
    expect(reverse(served(), given).findings()).toContainEqual([code, 7])
  })

  test.each([
    ['another amount', { ...tokensBurned, burnedBaseUnits: '1' }, blockTimeMs],
    ['another endpoint', { ...tokensBurned, endpoint: '/api/other' }, blockTimeMs],
    ['another hour', tokensBurned, blockTimeMs + 3_600_000],
  ] as const)('whose burn is taken back with %s is found', (_, burned, atMs) => {
    const ledger = served().append(reference, ['PaymentReversed', reversal()], ['BurnReversed', burned, atMs])
    expect(ledger.findings()).toEqual([['burn_differs', 8]])
  })

  test('without its burn is found, and so is a burn that is taken back alone', () => {
    const half = served().append(reference, ['PaymentReversed', reversal()])
    expect(half.findings()).toEqual([['append_incomplete', 7]])
    expect(served().append(reference, ['BurnReversed', tokensBurned]).findings()).toEqual([['lifecycle_impossible', 7]])
  })

  test('of a final payment, or of one that is being served, is found', () => {
    const final = reverse(finalize(served(), exposed), notExposed)
    expect(final.findings()).toEqual([['lifecycle_impossible', 8]])
    expect(reverse(paid()).findings()).toContainEqual(['lifecycle_impossible', 5])
  })

  test('may be followed by the arrival of the tokens after all, which are then owed to their sender', () => {
    const received = { wallet, mint: sampleMint, receivedBaseUnits: String(owed + over), slot: 700 }
    const ledger = reverse(served()).append(reference, ['TransferReceived', received])
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()).toMatchObject({
      'Assets:PaymentWallet': owed + over,
      'Liabilities:Unmatched:…': -owed - over,
    })
  })
})

describe('a refund', () => {
  const due = { wallet, mint: sampleMint, refundBaseUnits: String(owed) }
  const refund = (ledger: ReplayedLedger, fields: Fields) => ledger.append(reference, ['RefundDue', fields])

  test('is of what was owed for the request, to the wallet that paid, once it is final', () => {
    const ledger = refund(finalize(released(), notExposed), due)
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()).toMatchObject({ 'Liabilities:RefundsDue:…': -owed, 'Liabilities:Overpaid:…': -over })
  })

  test.each([
    ['before it is final', refund(released(), due), 'lifecycle_impossible'],
    [
      'of more than was owed',
      refund(finalize(released(), notExposed), { ...due, refundBaseUnits: '7000001' }),
      'refund_differs',
    ],
    [
      'to another wallet',
      refund(finalize(released(), notExposed), { ...due, wallet: sampleAddress() }),
      'owner_differs',
    ],
    ['of a delivered request', refund(finalize(served(), exposed), due), 'lifecycle_impossible'],
  ] as const)('%s is found', (_, ledger, code) => {
    expect(ledger.codes()).toContain(code)
  })
})
