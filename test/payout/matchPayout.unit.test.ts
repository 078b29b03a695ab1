import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { signatureOfBytes } from '@tollbook/core/signature'
import { payoutMemo } from '../../src/accounting/payoutPlan.ts'
import { planPayout } from '../../src/accounting/planPayout.ts'
import { matchPayout } from '../../src/payout/matchPayout.ts'
import type { TokenBalance, TokenMovement, TransactionRecord } from '../../src/payment/transactionRecord.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'

const signature = assertPresent(signatureOfBytes(new Uint8Array(64).fill(7)), 'a signature')
const network = 'solana:test'
const terms = {
  mint,
  decimals: 6,
  tokenProgram: mint,
  paymentWallet: wallet,
  paymentTokenAccount: wallet,
  network,
}
const { plan: created } = planPayout({
  network,
  mint,
  decimals: 6,
  paymentWallet: wallet,
  position: 12,
  slot: 900,
  debts: [
    { account: 'Liabilities:Share:provider', baseUnits: 70n },
    { account: 'Liabilities:Share:treasury', baseUnits: 5n },
  ],
  destinations: new Map([
    ['provider', otherWallet],
    ['treasury', mint],
  ]),
  leastBaseUnits: 0n,
  receivers: new Map([otherWallet, mint].map((address) => [address, { kind: 'ready' }])),
  openAccountsMax: 0,
})
const plan = assertPresent(created, 'a debt makes a plan')
const paid: TokenMovement = {
  kind: 'transfer',
  tokenProgram: mint,
  mint,
  authority: wallet,
  amountBaseUnits: 70n,
  source: wallet,
  destination: otherWallet,
}
const spent: TokenBalance = {
  tokenAccount: wallet,
  mint,
  ownersSeen: [wallet],
  beforeBaseUnits: 100n,
  afterBaseUnits: 30n,
}

function recordOf(changes: Partial<TransactionRecord>): TransactionRecord {
  return {
    signature,
    slot: 901,
    blockTimeMs: 0,
    failure: undefined,
    signers: [wallet],
    movements: [paid],
    balances: [spent],
    memos: [payoutMemo(plan, 1)],
    bytes: undefined,
    ...changes,
  }
}

function match(changes: Partial<TransactionRecord> = {}) {
  const record = recordOf(changes)
  return matchPayout({ record, plan, terms, tokenAccountOf: (owner) => owner })
}

const provider = { account: 'Liabilities:Share:provider', wallet: otherWallet, paidBaseUnits: 70n }

test('a transaction that pays the part, and nothing else, is recorded with what left the wallet', () => {
  const whole = {
    movements: [paid, { ...paid, destination: mint, amountBaseUnits: 5n }],
    balances: [{ ...spent, afterBaseUnits: 25n }],
  }
  const payments = [provider, { account: 'Liabilities:Share:treasury', wallet: mint, paidBaseUnits: 5n }]
  expect(match(whole)).toMatchObject({ kind: 'DistributionPaid', planId: plan.id, part: 1, payments })
})

test('a transaction that leaves out a line is recorded with the lines that it pays', () => {
  expect(match()).toMatchObject({ kind: 'DistributionPaid', planId: plan.id, part: 1, payments: [provider] })
})

test('a plan for holders is paid by whole parts', () => {
  const holders = {
    account: 'Liabilities:Share:holders',
    amountBaseUnits: 75n,
    snapshotSha256: '',
    snapshotSlot: 1,
    excluded: [],
    minimumBaseUnits: 1n,
    openAccountsMax: 0,
  }
  const record = recordOf({})
  expect(matchPayout({ record, plan: { ...plan, holders }, terms, tokenAccountOf: (owner) => owner })).toContain(
    'as planned',
  )
})

const notOurs = 'does not move tokens of the payment wallet'

test.each<[string, Partial<TransactionRecord>, string]>([
  ['fails on chain', { failure: { text: 'custom program error', insufficientFunds: false } }, 'failed on chain'],
  ['names no part', { memos: [] }, 'does not name a part'],
  ['names two parts', { memos: [payoutMemo(plan, 1), payoutMemo(plan, 1)] }, 'does not name a part'],
  ['moves tokens of another account only', { balances: [{ ...spent, tokenAccount: otherWallet }] }, notOurs],
  ['moves tokens of another mint only', { balances: [{ ...spent, mint: otherWallet }] }, notOurs],
  ['gives the account away', { balances: [{ ...spent, ownersSeen: [wallet, otherWallet] }] }, notOurs],
  ['pays another wallet', { movements: [{ ...paid, destination: wallet }] }, 'as planned'],
  ['pays less', { movements: [{ ...paid, amountBaseUnits: 69n }] }, 'as planned'],
  ['pays twice', { movements: [paid, paid] }, 'as planned'],
  [
    'takes more out of the wallet than it shows',
    { balances: [{ ...spent, afterBaseUnits: 29n }] },
    '71 base units left',
  ],
])('a transaction that %s is not recorded', (_what, changes, why) => {
  expect(match(changes)).toContain(why)
})
