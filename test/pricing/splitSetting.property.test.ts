import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  burnPercentage,
  defaultSplit,
  distributionOf,
  parseDollarSplit,
  parseSplit,
} from '../../src/pricing/splitSetting.ts'
import { assert } from '@tollbook/core/assert'

const problemsOf = (setting: string) => {
  const parsed = parseSplit(setting)
  return parsed.ok ? [] : parsed.problems
}

/** Shares of at least 1 per mille that add up to 1,000, of 2 to 20 accounts. */
const shares = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 20 }).map((weights) => {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const rest = 1_000 - weights.length
  const perMilles = weights.map((weight) => 1 + Math.floor((weight * rest) / total))
  const given = perMilles.reduce((sum, perMille) => sum + perMille, 0)
  return perMilles.map((perMille, at) => (at === 0 ? perMille + 1_000 - given : perMille))
})

describe('SPLIT', () => {
  test('of the specification is the default', () => {
    expect(parseSplit('burn:30,provider:50,holders:15,treasury:5')).toEqual({ ok: true, value: defaultSplit })
    expect(distributionOf(defaultSplit)).toEqual({ burn: '30%', provider: '50%', holders: '15%', treasury: '5%' })
    expect(burnPercentage(defaultSplit)).toBe(30)
  })

  test('of any number of accounts reads back as the distribution that callers see', () => {
    fc.assert(
      fc.property(shares, (perMilles) => {
        const split = perMilles.map((perMille, at) => ({ account: at === 0 ? 'burn' : `account-${at}`, perMille }))
        const distribution = distributionOf(split)
        const setting = Object.entries(distribution).map(([account, text]) => `${account}:${text.replace('%', '')}`)
        expect(parseSplit(setting.join(','))).toEqual({ ok: true, value: split })
        expect(burnPercentage(split)).toBe(Number(distribution['burn']?.replace('%', '')))
      }),
    )
  })

  test('that does not add up to 100 is refused with its sum', () => {
    fc.assert(
      fc.property(shares, fc.integer({ min: 1, max: 999 }), (perMilles, change) => {
        const changed = perMilles.map((perMille, at) => (at === 0 ? perMille + change : perMille))
        fc.pre((changed[0] ?? 0) <= 1_000)
        const setting = changed.map((perMille, at) => `${at === 0 ? 'burn' : `a${at}`}:${perMille / 10}`)
        expect(problemsOf(setting.join(','))).toEqual([
          `adds up to ${(1_000 + change) / 10}%; change the shares so that they add up to 100%`,
        ])
      }),
    )
  })

  test.each([
    ['', /has "": write account:percent/],
    ['burn', /has "burn": write account:percent/],
    ['burn:30,Provider:70', /has "Provider:70": .*lower-case/],
    ['burn:30,provider:70.25', /has "provider:70.25": the share must be a number from 0.1 to 100/],
    ['burn:0,provider:100', /has "burn:0": the share must be/],
    ['burn:30,provider:-1,x:71', /has "provider:-1": the share must be/],
    ['provider:100', /has no share for "burn"; add one, such as burn:30/],
    ['burn:30,prepaid:70', /names "prepaid", the share of deposits on tabs; choose another name/],
    ['burn:100', /names no account besides "burn"; add one/],
    ['burn:30,provider:35,provider:35', /names "provider" more than once/],
    [`burn:30,${Array.from({ length: 20 }, (_, at) => `a${at}:3.5`).join(',')}`, /has 21 accounts; at most 20/],
  ])('%j is refused', (setting, problem) => {
    expect(problemsOf(setting).join('\n')).toMatch(problem)
  })

  test('reports every mistake at once', () => {
    expect(problemsOf('provider:many,holders:1000,holders:1,=')).toEqual([
      'has "provider:many": the share must be a number from 0.1 to 100 with at most one digit after the point',
      'has "holders:1000": the share must be a number from 0.1 to 100 with at most one digit after the point',
      expect.stringContaining('has "=": write account:percent'),
      'names "holders" more than once; keep one share for it',
      'has no share for "burn"; add one, such as burn:30',
    ])
  })

  test('accepts five accounts', () => {
    const parsed = parseSplit('burn:20,provider:45.5,holders:15,treasury:10,charity:9.5')
    assert(parsed.ok, 'the shares add up')
    expect(distributionOf(parsed.value)).toEqual({
      burn: '20%',
      provider: '45.5%',
      holders: '15%',
      treasury: '10%',
      charity: '9.5%',
    })
  })
})

test('a split of a dollar cannot name the share of deposits either, by which a price is known as a deposit', () => {
  const parsed = parseDollarSplit('prepaid:100')
  expect(parsed.ok ? [] : parsed.problems).toEqual([expect.stringContaining('names "prepaid"')])
})
