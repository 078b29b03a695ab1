import type { Address } from '@tollbook/core/address'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPayable } from '../../src/accounting/account.ts'
import { type Debt, payoutPlanJson, planPayout, readPayoutPlan } from '../../src/accounting/payoutPlan.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { anyAddress } from '../store/arbitraryEvent.ts'

const anyDebts = fc.uniqueArray(
  fc.record({
    account: fc.oneof(
      fc.constantFrom(
        'Liabilities:Share:provider',
        'Liabilities:Share:holders',
        'Liabilities:Share:treasury',
        'Liabilities:Unmatched:unknown',
      ),
      fc
        .tuple(fc.constantFrom('Overpaid', 'RefundsDue', 'Unmatched'), anyAddress)
        .map(([kind, owner]) => `Liabilities:${kind}:${owner}`),
    ),
    baseUnits: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  }),
  { selector: ({ account }) => account, maxLength: 14 },
)
const anyDestination = fc.option(anyAddress, { nil: undefined })
function mapOf(wallets: Readonly<Record<string, Address | undefined>>): ReadonlyMap<string, Address> {
  return new Map(Object.entries(wallets).flatMap(([name, address]) => (address === undefined ? [] : [[name, address]])))
}

const anyQuestion = fc.record({
  debts: anyDebts,
  destinations: fc.record({ provider: anyDestination, holders: anyDestination, treasury: anyDestination }).map(mapOf),
  leastBaseUnits: fc.constantFrom(0n, 1_000n),
})

const rest = { network: 'solana:test', mint, decimals: 6, paymentWallet: wallet, position: 12, slot: 900 }

test('a plan pays each debt once and whole, to whom it is owed, and none that is small or has nowhere to go', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const paid = planPayout({ ...rest, ...question })?.parts.flat() ?? []
      const expected = question.debts.flatMap(({ account, baseUnits }: Debt) => {
        const [, kind = '', owner = ''] = account.split(':')
        const to = kind === 'Share' ? question.destinations.get(owner) : owner
        const pays = to !== undefined && to !== 'unknown' && baseUnits > 0n && baseUnits >= question.leastBaseUnits
        return pays ? [`${account} ${to} ${baseUnits}`] : []
      })
      const found = paid.map(({ account, wallet: to, baseUnits }) => `${account} ${to} ${baseUnits}`)
      expect(found.toSorted()).toEqual(expected.toSorted())
      expect(paid.every(({ account }) => isPayable(account))).toBe(true)
    }),
  )
})

test('the order in which debts are read makes no other plan, and a plan that is written and read is the same', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const plan = planPayout({ ...rest, ...question })
      expect(planPayout({ ...rest, ...question, debts: question.debts.toReversed() })).toEqual(plan)
      if (plan !== undefined) expect(readPayoutPlan(JSON.parse(JSON.stringify(payoutPlanJson(plan))))).toEqual(plan)
    }),
  )
})

test('a plan that was changed anywhere is rejected', () => {
  const debts = [{ account: 'Liabilities:Share:provider', baseUnits: 5n }]
  const destinations = new Map([['provider', otherWallet]])
  const plan = planPayout({ ...rest, debts, destinations, leastBaseUnits: 0n })
  if (plan === undefined) throw new Error('something is owed')
  const text = JSON.stringify(payoutPlanJson(plan))
  const changes: readonly (readonly [string, string])[] = [
    ['"5"', '"6"'],
    [otherWallet, mint],
    ['Share:provider', 'Share:treasury'],
    ['"position":12', '"position":13'],
    ['solana:test', 'solana:other'],
    ['payout_', 'payout_0'],
  ]
  for (const [from, to] of changes) {
    expect(text).toContain(from)
    expect(readPayoutPlan(JSON.parse(text.replace(from, to))), from).toBeUndefined()
  }
})
