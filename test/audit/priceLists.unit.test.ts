import { describe, expect, test } from 'vitest'
import { readPrice } from '../../packages/audit/src/price.ts'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { blockTimeMs, dollarPrice, type Fields, listed, price, split } from './replayedLedger.ts'

/* The rules of the auditor for price lists, on bodies written by hand. */

const other = { ...price, endpoint: '/api/data/stock' }
const otherDecimals = {
  ...other,
  decimals: 5,
  requiredBaseUnits: '1000000',
  burnBaseUnits: '300000',
  shares: price.shares.map(({ account, baseUnits }) => ({ account, baseUnits: baseUnits.slice(0, -1) })),
}
const { tokenBurn: _, ...dollarWithoutBurn } = dollarPrice
const burnedDollar = {
  ...dollarWithoutBurn,
  burnBaseUnits: '3000',
  shares: dollarPrice.shares.with(2, { account: 'treasury', baseUnits: '500' }),
}

const byUse = { inputPerMillionMicroUsd: '1', outputPerMillionMicroUsd: '1', minimumMicroUsd: '1' }
const cheaper = {
  priceMicroUsd: '9000',
  requiredBaseUnits: '9000',
  shares: dollarPrice.shares.map((share) => ({ ...share, baseUnits: String((Number(share.baseUnits) * 9) / 10) })),
}

/** The dollar in shares of its own split. */
const ownShares = [
  { account: 'treasury', baseUnits: '4000' },
  { account: 'holders', baseUnits: '6000' },
]
const ownSplit = [
  { account: 'treasury', perMille: 400 },
  { account: 'holders', perMille: 600 },
]
const dividedDollar = { ...dollarPrice, shares: ownShares }
const splitOf = (...split: readonly { account: string; perMille: number }[]) => {
  return { prices: [price, dividedDollar], dollarSplits: [{ mint: dollarPrice.mint, split }] }
}

describe('a price list', () => {
  test.each([
    ['a split of less than the whole', { split: split.slice(0, 3) }, 'split_wrong'],
    [
      'an account twice in its split',
      { split: [...split.slice(0, 3), { account: 'holders', perMille: 50 }] },
      'split_wrong',
    ],
    [
      'shares that are not those of its split',
      { prices: [{ ...price, shares: price.shares.toReversed() }] },
      'price_wrong',
    ],
    [
      'a burn that is not that of its split',
      { split: split.with(0, { account: 'burn', perMille: 200 }).with(1, { account: 'provider', perMille: 600 }) },
      'price_wrong',
    ],
    [
      'shares that do not sum to what is received',
      { prices: [{ ...price, shares: price.shares.slice(1) }] },
      'price_wrong',
    ],
    ['a price that is not that of its dollars', { prices: [{ ...price, priceMicroUsd: '10001' }] }, 'price_wrong'],
    ['a dollar that is burned', { prices: [price, burnedDollar] }, 'price_wrong'],
    [
      'a burn that a dollar owes for one endpoint and not for another',
      { prices: [price, other, dollarPrice, { ...dollarWithoutBurn, endpoint: other.endpoint }] },
      'price_wrong',
    ],
    ['a dollar that its split divides otherwise', splitOf(...ownSplit.toReversed()), 'price_wrong'],
    ['a split of a dollar of less than the whole', splitOf(...ownSplit.slice(0, 1)), 'split_wrong'],
    [
      'two splits of a dollar',
      { prices: [price, dividedDollar], dollarSplits: [1, 2].map(() => ({ mint: dollarPrice.mint, split: ownSplit })) },
      'split_wrong',
    ],
    [
      'a price by use of an endpoint without a price',
      { metered: [{ ...byUse, endpoint: other.endpoint }] },
      'price_wrong',
    ],
    ['a dollar of another price than its token', { prices: [price, { ...dollarPrice, ...cheaper }] }, 'price_wrong'],
    ['a dollar in front of its token', { prices: [dollarPrice, price] }, 'price_wrong'],
    ['a split of a dollar that burns', splitOf(...ownSplit.with(1, { account: 'burn', perMille: 600 })), 'split_wrong'],
    [
      'a split of the service token as of a dollar',
      { dollarSplits: [{ mint: price.mint, split: ownSplit }] },
      'split_wrong',
    ],
    [
      'a treasury that gets less of a dollar than the burn that it delivers',
      splitOf({ account: 'treasury', perMille: 299 }, { account: 'holders', perMille: 701 }),
      'split_wrong',
    ],
    ['a mint of two numbers of decimals', { prices: [price, otherDecimals] }, 'price_wrong'],
  ] as const)('with %s is found', (_, list, code) => {
    expect(listed(list).findings()).toContainEqual([code, 1])
  })

  test('of five accounts divides as its split says, and the first account takes the rest', () => {
    const five = [...split.slice(0, 2), ...['a', 'b', 'c', 'd'].map((account) => ({ account, perMille: 50 }))]
    const parts = ['a', 'b', 'c', 'd'].map((account) => ({ account, baseUnits: '500000' }))
    const other = { ...price, shares: [{ account: 'provider', baseUnits: '5000000' }, ...parts] }
    expect(listed({ split: five, prices: [other] }).findings()).toEqual([])
  })

  test('gives the burn of a dollar to the treasury, which the split of the token need not name', () => {
    const without = [...split.slice(0, 2), { account: 'holders', perMille: 200 }]
    const prices = [
      { ...price, shares: [price.shares[0] ?? {}, { account: 'holders', baseUnits: '2000000' }] },
      {
        ...dollarPrice,
        shares: [
          { account: 'provider', baseUnits: '5000' },
          { account: 'holders', baseUnits: '2000' },
          { account: 'treasury', baseUnits: '3000' },
        ],
      },
    ]
    expect(listed({ split: without, prices }).findings()).toEqual([])
  })

  test('that returns to an earlier price offers that price again', () => {
    const ledger = listed()
    const list = (prices: readonly Fields[]) => ['PriceListPublished', { source: 'fixed', split, prices }] as const
    const hours = (count: number) => blockTimeMs + count * 3_600_000
    const priceOf = (fields: Fields) => readPrice(JSON.parse(canonicalJson(fields)))
    ledger.wait(3_600_000 * 200).append('prices#2', list([other]))
    ledger.wait(3_600_000 * 200).append('prices#3', list([price]))
    const { prices } = ledger.replay
    expect([150, 250, 300, 500].map((hour) => prices.offers(priceOf(price), hours(hour)))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect([150, 250, 450, 500].map((hour) => prices.offers(priceOf(other), hours(hour)))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('divides a dollar as the split of its mint says', () => {
    expect(listed(splitOf(...ownSplit)).findings()).toEqual([])
  })

  test('with another number than the next one is found', () => {
    const ledger = listed().append('prices#3', ['PriceListPublished', { source: 'fixed', split, prices: [price] }])
    expect(ledger.findings()).toEqual([['version_missing', 2]])
  })
})

describe('the hold of a price by use', () => {
  const zero = { inputPerMillionMicroUsd: '0', outputPerMillionMicroUsd: '0', minimumMicroUsd: '0' }
  const { replay } = listed({ metered: [{ endpoint: price.endpoint, ...zero }] })
  /** Price, required amount, burn and shares, all of them `parts` tenths of the listed ones. */
  const held = (parts: bigint) => {
    const partOf = (text: string) => ((BigInt(text) * parts) / 10n).toString()
    return readPrice({
      ...price,
      priceMicroUsd: partOf(price.priceMicroUsd),
      requiredBaseUnits: partOf(price.requiredBaseUnits),
      burnBaseUnits: partOf(price.burnBaseUnits),
      shares: price.shares.map(({ account, baseUnits }) => ({ account, baseUnits: partOf(baseUnits) })),
    })
  }

  test('may be any part of the listed price, and not more, even if everything in it agrees', () => {
    const problems = [5n, 10n, 11n].map((parts) => {
      const { problem } = held(parts)
      return problem ?? replay.prices.findHoldProblem(1, held(parts))
    })
    expect(problems).toEqual([undefined, undefined, 'more is held than its price'])
  })
})
