import type { Address } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPayable } from '../../src/accounting/account.ts'
import { identifiedPlan, payoutPlanJson, readPayoutPlan } from '../../src/accounting/payoutPlan.ts'
import { planPayout, type Receiver, walletsToPay } from '../../src/accounting/planPayout.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { anyAddress } from '../store/arbitraryEvent.ts'

const anyDebts = fc.uniqueArray(
  fc.record({
    account: fc.oneof(
      fc.constantFrom(
        'Liabilities:Share:provider',
        'Liabilities:Share:holders',
        'Liabilities:Share:treasury',
        'Liabilities:Share:charity',
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
const anyReceiver: fc.Arbitrary<Receiver> = fc.oneof(
  fc.constant<Receiver>({ kind: 'ready' }),
  fc.boolean().map((wasPaid): Receiver => ({ kind: 'missing', wasPaid })),
  fc.constant<Receiver>({ kind: 'refusing', why: 'its token account is frozen' }),
)

const anyQuestion = fc
  .record({
    debts: anyDebts,
    destinations: fc
      .record({ provider: anyDestination, holders: anyDestination, treasury: anyDestination, charity: anyDestination })
      .map(mapOf),
    leastBaseUnits: fc.constantFrom(0n, 1_000n),
    openAccountsMax: fc.constantFrom(0, 2),
    states: fc.array(anyReceiver, { minLength: 18, maxLength: 18 }),
  })
  .map(({ states, ...question }) => {
    const wallets = walletsToPay(question.debts, question.destinations)
    const receivers = new Map(
      wallets.map((address, index) => [address, assertPresent(states[index], 'each wallet has a state')]),
    )
    return { ...question, receivers }
  })

const rest = { network: 'solana:test', mint, decimals: 6, paymentWallet: wallet, position: 12, slot: 900 }

test('each debt is paid once and whole to whom it is owed, or waits with a reason', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const { plan, waiting } = planPayout({ ...rest, ...question })
      const paid = plan?.parts.flat() ?? []
      const all = [...paid, ...waiting].map(({ account, baseUnits }) => `${account} ${baseUnits}`)
      const owed = question.debts.filter(({ baseUnits }) => baseUnits > 0n)
      expect(all.toSorted()).toEqual(owed.map(({ account, baseUnits }) => `${account} ${baseUnits}`).toSorted())
      for (const { account, wallet: to, baseUnits } of paid) {
        const [, kind = '', owner = ''] = account.split(':')
        expect(to).toBe(kind === 'Share' ? question.destinations.get(owner) : owner)
        expect(isPayable(account) && baseUnits >= question.leastBaseUnits).toBe(true)
        const receiver = question.receivers.get(to)
        const opens = plan?.opens?.includes(to) === true
        expect(opens ? receiver : receiver?.kind).toEqual(opens ? { kind: 'missing', wasPaid: false } : 'ready')
      }
      expect(waiting.every(({ why }) => why.length > 10)).toBe(true)
    }),
  )
})

test('no more accounts are opened for others than the maximum, and a debt that could be paid waits only beyond it', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const { plan, waiting } = planPayout({ ...rest, ...question })
      const others = (plan?.parts.flat() ?? []).filter(({ account }) => !account.includes(':Share:'))
      const opened = others.filter(({ wallet: to }) => plan?.opens?.includes(to) === true)
      const openedWallets = new Set(opened.map(({ wallet: to }) => to))
      const shareWallets = new Set<string>(question.destinations.values())
      expect([...openedWallets].filter((to) => !shareWallets.has(to)).length).toBeLessThanOrEqual(
        question.openAccountsMax,
      )
      const bounded = waiting.filter(({ why }) => why.includes('--open-accounts'))
      if (bounded.length > 0) expect(openedWallets.size).toBe(question.openAccountsMax)
    }),
  )
})

test('a debt of exactly the least amount is paid, and the accounts opened for shares leave the maximum to others', () => {
  const owe = (baseUnits: bigint) => [
    { account: 'Liabilities:Share:provider', baseUnits: 5_000n },
    { account: `Liabilities:RefundsDue:${otherWallet}`, baseUnits },
  ]
  const plan = (debts: ReturnType<typeof owe>) =>
    planPayout({
      ...rest,
      debts,
      destinations: new Map([['provider', mint]]),
      leastBaseUnits: 1_000n,
      openAccountsMax: 1,
      receivers: new Map([mint, otherWallet].map((to) => [to, { kind: 'missing', wasPaid: false } as const])),
    })
  expect(plan(owe(1_000n))).toMatchObject({ plan: { opens: [mint, otherWallet].toSorted() }, waiting: [] })
  expect(plan(owe(999n))).toMatchObject({ plan: { opens: [mint] }, waiting: [{ baseUnits: 999n }] })
})

test('one wallet with two debts opens one account', () => {
  const debts = ['RefundsDue', 'Overpaid'].map((kind) => ({
    account: `Liabilities:${kind}:${otherWallet}`,
    baseUnits: 9n,
  }))
  const smaller = { account: `Liabilities:RefundsDue:${mint}`, baseUnits: 5n }
  const receivers = new Map([mint, otherWallet].map((to) => [to, { kind: 'missing', wasPaid: false } as const]))
  const question = { ...rest, destinations: new Map(), leastBaseUnits: 0n, receivers, openAccountsMax: 2 }
  expect(planPayout({ ...question, debts: [...debts, smaller] }).waiting).toEqual([])
})

test('the parts of the shares come first, and have no line of another wallet', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const { plan } = planPayout({ ...rest, ...question })
      const kinds = (plan?.parts ?? []).map((part) => new Set(part.map(({ account }) => account.includes(':Share:'))))
      expect(kinds.every(({ size }) => size === 1)).toBe(true)
      const isShares = kinds.map((kind) => kind.has(true))
      expect(isShares).toEqual(isShares.toSorted((one, other) => Number(other) - Number(one)))
    }),
  )
})

test('the order in which debts are read makes no other plan, and a plan that is written and read is the same', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const planned = planPayout({ ...rest, ...question })
      expect(planPayout({ ...rest, ...question, debts: question.debts.toReversed() })).toEqual(planned)
      const { plan } = planned
      if (plan !== undefined) expect(readPayoutPlan(JSON.parse(JSON.stringify(payoutPlanJson(plan))))).toEqual(plan)
    }),
  )
})

test('a plan that was changed anywhere is rejected', () => {
  const debts = [{ account: 'Liabilities:Share:provider', baseUnits: 5n }]
  const { plan } = planPayout({
    ...rest,
    debts,
    destinations: new Map([['provider', otherWallet]]),
    leastBaseUnits: 0n,
    receivers: new Map([[otherWallet, { kind: 'missing', wasPaid: false }]]),
    openAccountsMax: 0,
  })
  const text = JSON.stringify(payoutPlanJson(assertPresent(plan, 'something is owed')))
  const changes: readonly (readonly [string, string])[] = [
    ['"5"', '"6"'],
    [otherWallet, mint],
    ['Share:provider', 'Share:treasury'],
    ['"position":12', '"position":13'],
    ['solana:test', 'solana:other'],
    ['payout_', 'payout_0'],
    [`"opens":["${otherWallet}"]`, '"opens":[]'],
  ]
  for (const [from, to] of changes) {
    expect(text).toContain(from)
    expect(readPayoutPlan(JSON.parse(text.replace(from, to))), from).toBeUndefined()
  }
})

test('a plan for holders is rejected if its lines do not add up to its amount, or pay another account', () => {
  const account = 'Liabilities:Share:holders'
  const holders = {
    account,
    amountBaseUnits: 9n,
    snapshotSha256: '0'.repeat(64),
    snapshotSlot: 890,
    excluded: [],
    minimumBaseUnits: 1n,
    openAccountsMax: 0,
  }
  const isRead = (line: { readonly account: string; readonly baseUnits: bigint }) => {
    const plan = identifiedPlan({ ...rest, holders, parts: [[{ ...line, wallet: otherWallet }]] })
    return readPayoutPlan(JSON.parse(JSON.stringify(payoutPlanJson(plan)))) !== undefined
  }
  expect(isRead({ account, baseUnits: 9n })).toBe(true)
  expect(isRead({ account, baseUnits: 8n })).toBe(false)
  expect(isRead({ account: 'Liabilities:Share:treasury', baseUnits: 9n })).toBe(false)
})

test('a debt to the payment wallet itself waits, because its tokens are there already', () => {
  const debts = [wallet, otherWallet].map((owner) => ({ account: `Liabilities:Unmatched:${owner}`, baseUnits: 5n }))
  const receivers = new Map([wallet, otherWallet].map((to) => [to, { kind: 'ready' } as const]))
  const question = { ...rest, destinations: new Map(), leastBaseUnits: 0n, receivers, openAccountsMax: 0 }
  const { plan, waiting } = planPayout({ ...question, debts })
  expect(plan?.parts).toEqual([[{ ...debts[1], wallet: otherWallet }]])
  expect(waiting).toMatchObject([{ ...debts[0], why: expect.stringContaining('the payment wallet itself') }])
})
