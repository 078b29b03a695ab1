import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { forgetUnconfirmedJump, judgeMove, type MarketMemory, noMemory } from '../../src/pricing/jumpGuard.ts'
import { isWorthPublishing } from '../../src/pricing/republish.ts'

const pollMs = 15_000

/** Prices as the polls see them, 15 seconds apart; undefined is a poll without an agreement. Which of them are believed? */
function follow(polls: readonly (bigint | undefined)[]): readonly boolean[] {
  let memory: MarketMemory = noMemory
  return polls.map((tokenPriceAttoUsd, index) => {
    if (tokenPriceAttoUsd === undefined) {
      memory = forgetUnconfirmedJump(memory)
      return false
    }
    const judged = judgeMove(memory, { tokenPriceAttoUsd, atMs: index * pollMs })
    memory = judged.memory
    return judged.isBelieved
  })
}

describe('a jump', () => {
  test('of more than 20 % is held, and believed when the next poll confirms it; of 20 % it is none', () => {
    expect(follow([1_000n, 1_200n, 1_200n])).toEqual([true, true, true])
    expect(follow([1_000n, 1_201n, 1_201n, 1_201n])).toEqual([true, false, true, true])
    expect(follow([1_000n, 799n, 810n, 810n])).toEqual([true, false, true, true])
  })

  test('that is over by the next poll is never believed', () => {
    expect(follow([1_000n, 3_000n, 1_001n, 3_000n, 999n])).toEqual([true, false, true, false, true])
  })

  test('that two polls see differently is held on', () => {
    expect(follow([1_000n, 3_000n, 9_000n, 2_000n, 2_100n])).toEqual([true, false, false, false, true])
  })

  test('is not confirmed by a poll that is not the next one', () => {
    expect(follow([1_000n, 3_000n, undefined, 3_000n, 3_000n])).toEqual([true, false, false, false, true])
  })

  test('cannot be walked in small steps: within a minute the price that is believed does not leave 20 % unconfirmed', () => {
    expect(follow([1_000n, 1_100n, 1_190n, 1_290n])).toEqual([true, true, true, false])
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 800n, max: 1_300n }), { maxLength: 40 }), (prices) => {
        const believed = follow(prices)
        for (const [index, price] of prices.entries()) {
          // Believed at once, without a held poll before it, within the minute of an earlier belief.
          if (believed[index] !== true || believed[index - 1] !== true || believed[index - 2] !== true) continue
          const earlier = prices[index - 2] ?? price
          const distance = price > earlier ? price - earlier : earlier - price
          expect(distance * 5n <= earlier).toBe(true)
        }
      }),
    )
  })

  test('is measured by the minute: what took three minutes may be three times as much', () => {
    const silence = Array.from({ length: 11 }, () => undefined)
    expect(follow([1_000n, ...silence, 1_600n]).at(-1)).toBe(true)
    expect(follow([1_000n, ...silence, 1_601n]).at(-1)).toBe(false)
  })
})

test('any two equal polls in a row are believed by the second', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.bigInt({ min: 1n, max: 10n ** 24n }), { nil: undefined }), { maxLength: 20 }),
      fc.bigInt({ min: 1n, max: 10n ** 24n }),
      (before, price) => {
        expect(follow([...before, price, price]).at(-1)).toBe(true)
      },
    ),
  )
})

test('what is remembered does not grow', () => {
  let memory: MarketMemory = noMemory
  for (let poll = 0; poll < 1_000; poll++)
    memory = judgeMove(memory, { tokenPriceAttoUsd: 1_000n + BigInt(poll % 7), atMs: poll * pollMs }).memory
  expect(memory.believed.length).toBeLessThanOrEqual(5)
})

describe('a new list is worth publishing', () => {
  const list = { listedAttoUsd: 1_000_000n, listedAgeMs: 3_600_000, marketAttoUsd: 1_000_000n, tolerancePercent: 2 }

  test.each([
    ['not for half a percent', 1_005_000n, 3_600_000, false],
    ['for more than that', 1_005_001n, 3_600_000, true],
    ['for less as well', 994_999n, 3_600_000, true],
    ['not within the minute of the last list', 1_006_000n, 59_999, false],
    ['but when the minute is over', 1_006_000n, 60_000, true],
    ['at once beyond the tolerance', 1_020_001n, 0, true],
    ['not at once up to the tolerance', 1_020_000n, 0, false],
    ['not because the clock of another instance is ahead', 1_006_000n, -500, false],
  ])('%s', (_, marketAttoUsd, listedAgeMs, worth) => {
    expect(isWorthPublishing({ ...list, marketAttoUsd, listedAgeMs })).toBe(worth)
  })

  test('at most once a minute by any number of instances whose markets differ by less than the tolerance', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 991n, max: 1_009n }), { minLength: 1, maxLength: 200 }), (markets) => {
        let listed = { price: 1_000n, atMs: 0 }
        let published = 0
        // Ten instances poll every 15 seconds, one after the other.
        for (const [index, marketAttoUsd] of markets.entries()) {
          const atMs = index * 1_500
          const listedAgeMs = atMs - listed.atMs
          if (!isWorthPublishing({ listedAttoUsd: listed.price, listedAgeMs, marketAttoUsd, tolerancePercent: 2 }))
            continue
          listed = { price: marketAttoUsd, atMs }
          published++
        }
        expect(published).toBeLessThanOrEqual(Math.floor((markets.length * 1_500) / 60_000))
      }),
    )
  })
})
