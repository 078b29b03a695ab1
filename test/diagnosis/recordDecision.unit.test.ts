import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import {
  type DecisionDeps,
  decideAndRecord,
  refundActions,
  type RefundOrder,
} from '../../src/diagnosis/recordDecision.ts'
import type { RefundApproved } from '../../src/payment/events/refundEvents.ts'
import { readReference, requireSignature } from '../../src/payment/paymentReference.ts'
import { evolveRefund, noRefund, type RefundState } from '../../src/payment/refundDecision.ts'
import type { Address } from '@tollbook/core/address'
import { sampleAddress, sampleReference, sampleSettlement } from '../store/samplePayment.ts'

const settlement = sampleSettlement()
const { reference, wallet, price } = settlement
const account = `Liabilities:RefundsDue:${wallet}`
const verified = { version: 4, settlement, attempt: 1, endpoint: price.endpoint, isFinal: true }
const owed = {
  reference,
  account,
  mint: price.mint,
  cause: 'undelivered',
  owedBaseUnits: 7_000n,
  paidBaseUnits: 0n,
  position: 1,
} as const
const order: RefundOrder = {
  action: 'approve',
  reference,
  by: 'mira',
  role: 'finance',
  reason: 'the customer asked',
  amountBaseUnits: undefined,
}

function termsOf(mint: Address) {
  const account = sampleAddress()
  return {
    mint,
    decimals: 6,
    tokenProgram: account,
    paymentWallet: account,
    paymentTokenAccount: account,
    network: 'x',
  }
}

/** A ledger in memory with one debt. It records a decision if none was recorded since the given state was read. */
function openLedger() {
  let state: RefundState = noRefund
  const approvals: RefundApproved[] = []
  const deps: DecisionDeps = {
    clock: systemClock,
    facts: {
      payment: async () => ({
        kind: 'payment',
        state: { ...verified, phase: 'refund_due' },
        stateName: 'refund_due.final',
        events: [],
      }),
    },
    store: {
      login: async () => 'finance',
      read: async () => state,
      async record({ event }, before) {
        if (before.version !== state.version || event.kind !== 'RefundApproved') return undefined
        state = evolveRefund(state, event)
        approvals.push(event)
        return { position: state.version, leafHash: '' }
      },
      recordBooking: () => Promise.reject(new Error('nothing is recorded here')),
    },
    async refundsOf() {
      const debts = approvals.flatMap((approval) => approval.debts)
      const approvedBaseUnits = debts.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
      return [{ ...owed, state: 'due', approvedBaseUnits, decisions: [], payouts: [] }]
    },
    chain: 'not asked',
    allTerms: () => [],
    limits: { finance: price.priceMicroUsd, support: price.priceMicroUsd },
  }
  return { deps, approvals }
}

test('debts of one payment are approved within the limit of their sum, and not of each', async () => {
  const { deps, approvals } = openLedger()
  const { requiredBaseUnits } = price
  const most = (requiredBaseUnits * 3n) / 4n
  const open = { state: 'due', approvedBaseUnits: 0n, decisions: [], payouts: [] } as const
  const withDebts = (one: bigint, other: bigint): DecisionDeps => ({
    ...deps,
    refundsOf: async () => [
      { ...owed, ...open, owedBaseUnits: one },
      { ...owed, ...open, cause: 'overpaid', account: `Liabilities:Overpaid:${wallet}`, owedBaseUnits: other },
    ],
  })
  expect(await decideAndRecord(withDebts(most, most), order)).toMatchObject({
    recorded: false,
    why: expect.stringContaining('the limit of the role finance'),
  })
  expect(approvals).toEqual([])
  expect(await decideAndRecord(withDebts(most, requiredBaseUnits - most), order)).toMatchObject({ recorded: true })
  expect(approvals.map(({ debts }) => debts.length)).toEqual([2])
})

test('only the debts of the payment are approved, less what was approved or paid of them', async () => {
  const { deps, approvals } = openLedger()
  const open = { ...owed, state: 'due', decisions: [], payouts: [] } as const
  const other = { ...open, reference: sampleReference(), approvedBaseUnits: 0n }
  const lines = [
    { ...open, owedBaseUnits: 70n, approvedBaseUnits: 20n, paidBaseUnits: 30n },
    { ...open, account: 'Liabilities:Overpaid:w', owedBaseUnits: 9n, approvedBaseUnits: 4n, paidBaseUnits: 0n },
    { ...open, account: 'Liabilities:Unmatched:w', owedBaseUnits: 5n, approvedBaseUnits: 0n, paidBaseUnits: 5n },
  ]
  const decided = await decideAndRecord({ ...deps, refundsOf: async () => [other, ...lines] }, order)
  expect(decided).toMatchObject({ recorded: true })
  expect(approvals.flatMap(({ debts }) => debts)).toEqual([
    { account, baseUnits: 40n },
    { account: 'Liabilities:Overpaid:w', baseUnits: 5n },
  ])
})

test.each([
  ['support', { role: 'support' }, undefined, 'only the role finance'],
  ['finance without a node', {}, undefined, 'the chain cannot be asked: not asked'],
  [
    'finance, if the transaction failed',
    {},
    { failure: { text: 'x', insufficientFunds: false } },
    'no token of ours arrived',
  ],
  ['finance, if nothing arrived', {}, { balances: [] }, 'no token of ours arrived'],
  ['finance, if the tokens were minted', {}, {}, 'no sender that could be paid back'],
] as const)('a transfer is not recorded by %s', async (_, more, landed, why) => {
  const { deps } = openLedger()
  const terms = termsOf(price.mint)
  const tokenAccount = terms.paymentTokenAccount
  const balances = [{ tokenAccount, mint: price.mint, ownersSeen: [], beforeBaseUnits: 0n, afterBaseUnits: 9n }]
  const record = {
    signature: requireSignature(reference),
    slot: 7,
    blockTimeMs: 0,
    failure: undefined,
    signers: [wallet],
    movements: [],
    balances,
    memos: [],
    bytes: undefined,
    ...landed,
  }
  const chain = { find: async () => ({ kind: 'found', slot: 7, nodes: 1, isAgreed: true, record }) as const }
  const facts = { payment: async () => undefined }
  const asked = { ...deps, facts, allTerms: () => [terms], ...(landed === undefined ? {} : { chain }) }
  expect(await decideAndRecord(asked, { ...order, action: 'record', ...more })).toMatchObject({
    recorded: false,
    why: expect.stringContaining(why),
  })
})

test('the debt of tokens that were never presented is approved in the mint in which they arrived', async () => {
  const { deps, approvals } = openLedger()
  const mint = sampleAddress()
  const state = { phase: 'unmatched', version: 1, wallet, mint } as const
  const unmatched: DecisionDeps = {
    ...deps,
    facts: { payment: async () => ({ kind: 'payment', state, stateName: 'unmatched', events: [] }) },
    // The token comes first, and the tokens that arrived are a dollar.
    allTerms: () => [termsOf(price.mint), termsOf(mint)],
  }
  expect(await decideAndRecord(unmatched, order)).toMatchObject({ recorded: true })
  expect(approvals.map((approval) => approval.mint)).toEqual([mint])
})

test('a payment that was sent and not seen has nothing to approve', async () => {
  const { deps } = openLedger()
  const state = { phase: 'submitted', version: 1, wallet, endpoint: '/api/x', transactionBase64: 'AQ==' } as const
  const facts = { payment: async () => ({ kind: 'payment', state, stateName: 'submitted', events: [] }) }
  expect(await decideAndRecord({ ...deps, facts }, order)).toMatchObject({ recorded: false })
})

test.each(refundActions)(
  '%s is refused for a request that a tab paid, whether the ledger has it or not',
  async (action) => {
    const { deps, approvals } = openLedger()
    const reference = readReference('tab:4uQeVj5tqViQh7yWWGStvk:1')
    expect(reference).toBeDefined()
    for (const facts of [deps.facts, { payment: async () => undefined }])
      expect(
        await decideAndRecord({ ...deps, facts }, { ...order, action, reference: reference ?? order.reference }),
      ).toMatchObject({ recorded: false, why: expect.stringContaining('a tab paid') })
    expect(approvals).toEqual([])
  },
)

test('a debt is approved once, although another person approves it while its amount is read', async () => {
  const { deps, approvals } = openLedger()
  let isFirst = true
  const overtaken: DecisionDeps = {
    ...deps,
    async refundsOf(of) {
      const lines = await deps.refundsOf(of)
      if (isFirst) {
        isFirst = false
        expect(await decideAndRecord(deps, { ...order, by: 'noor' })).toMatchObject({ recorded: true })
      }
      return lines
    },
  }
  expect(await decideAndRecord(overtaken, order)).toMatchObject({
    recorded: false,
    why: expect.stringContaining('no debt'),
  })
  expect(approvals.map(({ by }) => by)).toEqual(['noor'])
})
