import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { holderFigures } from '@tollbook/audit/kinds/holderPayout'
import { assertPresent } from '@tollbook/core/assert'
import { derivePlan, readHolderSnapshot } from '../../packages/audit/src/holderSnapshot.ts'
import { associatedTokenAccount } from '../../packages/audit/src/tokenAccountAddress.ts'
import { sampleAddress } from '../store/samplePayment.ts'
import { type Fields, price, type ReplayedLedger, served, signed } from './replayedLedger.ts'

/* The rules of the auditor for payouts to holders. */

const { mint } = price
const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const account = 'Liabilities:Share:provider'
const wallets = Array.from({ length: 9 }, sampleAddress).toSorted()
const accounts = wallets
  .map((wallet) => `${associatedTokenAccount({ wallet, tokenProgram, mint })} ${wallet} 100 open`)
  .toSorted()
const head = { accounts: 9, decimals: 6, format: 'tollbook-holders-1', mint, network: 'solana:test', slot: 900 }
const text = `${JSON.stringify({ ...head, tokenProgram })}\n${accounts.join('\n')}\n`
const snapshotSha256 = createHash('sha256').update(text).digest('hex')

const planId = `payout_${'0'.repeat(32)}`
const stream = `holders:${planId}`
const planned: Fields = {
  planId,
  mint,
  rule: 'pro-rata-1',
  account,
  snapshotSha256,
  snapshotSlot: 900,
  excluded: [],
  amountBaseUnits: '901',
  minimumBaseUnits: '1',
  openAccountsMax: 0,
  lines: 9,
  parts: 2,
}
// 901 of nine equal balances: the remaining base unit is that of the lowest address.
const lines = wallets.map((wallet, index) => ({ account, wallet, paidBaseUnits: index === 0 ? '101' : '100' }))
const [first, second] = [lines.slice(0, 8), lines.slice(8)]
const ended = { planId, mint, paidBaseUnits: '901' }

/** A ledger that owes the share, with the plan on record. */
function begun(given: Fields = {}): ReplayedLedger {
  const ledger = served()
  const snapshot = readHolderSnapshot(text)
  if (snapshot !== undefined) ledger.replay.snapshots = new Map([[snapshot.sha256, snapshot]])
  return ledger.append(stream, ['HolderPayoutPlanned', { ...planned, ...given }])
}

function pay(ledger: ReplayedLedger, part: number, payments: readonly Fields[], given: Fields = {}): ReplayedLedger {
  const signature = signed(20 + ledger.events.length)
  const payout = { signature, planId, part, mint, slot: 950, payments, ...given }
  return ledger.append(`solana:${signature}`, ['DistributionPaid', payout])
}

const whole = () => pay(pay(begun(), 1, first), 2, second)

test.each([
  ['one account twice', [...accounts, accounts.at(-1)]],
  ['accounts out of order', accounts.toReversed()],
  ['an account less than it says', accounts.slice(1)],
])('a snapshot with %s is not read', (_, listed) => {
  const count = listed.length === 8 ? 9 : listed.length
  const file = `${JSON.stringify({ ...head, accounts: count, tokenProgram })}\n${listed.join('\n')}\n`
  expect(readHolderSnapshot(file)).toBeUndefined()
})

test('every excluded wallet gets nothing', () => {
  const snapshot = assertPresent(readHolderSnapshot(text), 'the snapshot is read')
  const terms = { amountBaseUnits: 700n, minimumBaseUnits: 1n, openAccountsMax: 0, excluded: wallets.slice(0, 2) }
  expect(derivePlan(terms, snapshot)).toEqual([wallets.slice(2).map((wallet) => ({ wallet, baseUnits: 100n }))])
})

test('a plan whose parts have the lines of the snapshot leaves no finding', () => {
  const ledger = whole().append(stream, ['HolderPayoutEnded', ended])
  expect(ledger.findings()).toEqual([])
  expect(holderFigures(ledger.replay.state)).toEqual({ derived: 1, underived: 0 })
})

test('without the snapshot the lines are not judged, and that is counted', () => {
  const swapped = [...first.slice(0, 7), ...second]
  const ledger = pay(begun({ snapshotSha256: '0'.repeat(64) }), 1, swapped)
  expect(ledger.findings()).toEqual([])
  expect(holderFigures(ledger.replay.state)).toEqual({ derived: 0, underived: 1 })
})

const code = 'holder_payout_differs'
test.each([
  ['another line', () => pay(begun(), 1, [{ ...lines[0], paidBaseUnits: '100' }, ...first.slice(1)])],
  ['another wallet', () => pay(begun(), 1, [...first.slice(0, 7), { ...lines[7], wallet: sampleAddress() }])],
  ['the number of another part', () => pay(begun(), 2, first)],
  ['a part twice', () => pay(pay(begun(), 1, first), 1, first)],
  ['a part before the first', () => pay(begun({ snapshotSha256: '0'.repeat(64) }), 0, first)],
  ['a part beyond the last', () => pay(whole(), 3, second)],
  ['a part after the end', () => pay(whole().append(stream, ['HolderPayoutEnded', ended]), 1, first)],
  ['an end in another mint', () => whole().append(stream, ['HolderPayoutEnded', { ...ended, mint: sampleAddress() }])],
  ['an end with another sum', () => whole().append(stream, ['HolderPayoutEnded', { ...ended, paidBaseUnits: '900' }])],
  ['more planned than is owed', () => begun({ amountBaseUnits: '99000000' })],
  ['another number of lines', () => begun({ lines: 8 })],
  ['another slot', () => begun({ snapshotSlot: 901 })],
  [
    'a second open plan',
    () => begun().append(`holders:${planId}0`, ['HolderPayoutPlanned', { ...planned, planId: `${planId}0` }]),
  ],
  ['the stream of another plan', () => begun({ planId: `${planId}0` })],
])('%s is found', (_, ledgerOf) => {
  expect(
    ledgerOf()
      .findings()
      .map(([found]) => found),
  ).toContain(code)
})

test('a plan of all that is owed may be paid part by part, while a plan in another mint is open', () => {
  const owedText = '5000000'
  const unknown = { snapshotSha256: '0'.repeat(64), amountBaseUnits: owedText, parts: 2 }
  const ledger = begun(unknown)
  const [other, wallet] = [{ planId: `payout_${'1'.repeat(32)}`, mint: sampleAddress() }, wallets[0] ?? '']
  ledger.append(`holders:${other.planId}`, ['HolderPayoutPlanned', { ...planned, ...unknown, ...other }])
  // The other mint owes nothing, which is its only fault.
  expect(ledger.replay.findings.all().map(({ message }) => message)).toEqual(['5000000 are planned of 0 that are owed'])
  pay(ledger, 1, [{ account, wallet, paidBaseUnits: '4000000' }])
  pay(ledger, 2, [{ account, wallet, paidBaseUnits: '1000000' }])
  ledger.append(stream, ['HolderPayoutEnded', { ...ended, paidBaseUnits: owedText }])
  expect(ledger.replay.findings.all()).toHaveLength(1)
})

test('a frozen account is not paid, and accounts are opened for the largest balances first', () => {
  const [frozen = '', ...open] = wallets
  const balances = new Map(open.map((wallet, index) => [wallet, 100n * BigInt(index + 1)]))
  const tokenAccount = (wallet: string) => associatedTokenAccount({ wallet, tokenProgram, mint })
  const snapshot = {
    sha256: '',
    mint,
    tokenProgram,
    slot: 900,
    accounts: [
      { address: tokenAccount(frozen), owner: frozen, baseUnits: 500n, isFrozen: true },
      // Tokens in other accounts than the one that a payout pays.
      ...[...balances].map(([owner, baseUnits]) => ({ address: sampleAddress(), owner, baseUnits, isFrozen: false })),
    ],
  }
  const terms = { amountBaseUnits: 1_500n, minimumBaseUnits: 1n, openAccountsMax: 2, excluded: [] }
  const [seventh = '', eighth = ''] = open.slice(-2)
  const expected = [
    { wallet: seventh, baseUnits: 700n },
    { wallet: eighth, baseUnits: 800n },
  ]
  expect(derivePlan(terms, snapshot)).toEqual([expected])
})

test('a balance at the minimum is paid, and a remaining unit goes to the largest fraction', () => {
  const [one = '', two = '', three = ''] = wallets
  const accountOf = (owner: string, baseUnits: bigint) => {
    return { address: associatedTokenAccount({ wallet: owner, tokenProgram, mint }), owner, baseUnits, isFrozen: false }
  }
  const balances = [accountOf(one, 9n), accountOf(two, 10n), accountOf(three, 20n)]
  const terms = { amountBaseUnits: 5n, minimumBaseUnits: 10n, openAccountsMax: 0, excluded: [] }
  const paid = [
    { wallet: two, baseUnits: 2n },
    { wallet: three, baseUnits: 3n },
  ]
  // 5 of 30 are 1.66 and 3.33.
  expect(derivePlan(terms, { sha256: '', mint, tokenProgram, slot: 900, accounts: balances })).toEqual([paid])
})

test('another payout that takes what the open plan has still to pay is found', () => {
  const owed = -(begun().balances()[account] ?? 0)
  const taken = [{ account, wallet: wallets[0] ?? '', paidBaseUnits: String(owed - 900) }]
  expect(
    pay(begun(), 1, taken, { planId: 'payout_other' })
      .findings()
      .map(([found]) => found),
  ).toEqual([code])
})
