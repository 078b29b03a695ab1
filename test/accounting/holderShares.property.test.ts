import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Address, readAddress } from '@tollbook/core/address'
import { encodeBase58 } from '@tollbook/core/base58'
import { associatedTokenAccount } from '@tollbook/audit/tokenAccountAddress'
import { derivePlan, readHolderSnapshot } from '@tollbook/audit/holderSnapshot'
import { assertPresent } from '@tollbook/core/assert'
import { planHolderPayout } from '../../src/accounting/holderPlan.ts'
import { divideAmongHolders } from '../../src/accounting/holderShares.ts'
import { readSnapshot, snapshotDigest, snapshotText } from '../../src/accounting/holderSnapshot.ts'
import { payoutMemo, payoutPlanJson, readPayoutPlan } from '../../src/accounting/payoutPlan.ts'
import { buildPayout } from '../../src/chain/payoutTransaction.ts'
import { mint, otherWallet, wallet as paymentWallet } from '../payment/paymentStory.ts'
import { anyAddress } from '../store/arbitraryEvent.ts'

const u64Max = 2n ** 64n - 1n
const anyAmount = fc.oneof(fc.bigInt({ min: 1n, max: 50n }), fc.bigInt({ min: 1n, max: u64Max }))
const anyHolders = fc.uniqueArray(fc.record({ wallet: anyAddress, balanceBaseUnits: anyAmount }), {
  selector: ({ wallet }) => wallet,
  minLength: 1,
  maxLength: 30,
})

test('the shares sum to the amount to the base unit, each within one base unit of its proportion', () => {
  fc.assert(
    fc.property(anyAmount, anyHolders, (amount, holders) => {
      const shares = new Map(divideAmongHolders(amount, holders).map(({ wallet, baseUnits }) => [wallet, baseUnits]))
      const total = holders.reduce((sum, { balanceBaseUnits }) => sum + balanceBaseUnits, 0n)
      expect([...shares.values()].reduce((sum, share) => sum + share, 0n)).toBe(amount)
      for (const { wallet, balanceBaseUnits } of holders) {
        const rest = (shares.get(wallet) ?? 0n) * total - amount * balanceBaseUnits
        expect(rest < total && rest > -total).toBe(true)
      }
      expect(divideAmongHolders(amount, holders.toReversed())).toEqual(divideAmongHolders(amount, holders))
    }),
  )
})

test('base units that remain go to the largest fractions, and of equal fractions to the lower address', () => {
  const [low, high] = [mint, otherWallet].toSorted()
  const holders = [high, low].map((wallet) => ({
    wallet: assertPresent(wallet, 'two wallets'),
    balanceBaseUnits: 1n,
  }))
  expect(divideAmongHolders(3n, holders)).toEqual([
    { wallet: low, baseUnits: 2n },
    { wallet: high, baseUnits: 1n },
  ])
})

const tokenProgram = otherWallet
const accounts = new Map<Address, Address>()

function tokenAccountOf(wallet: Address): Address {
  const account =
    accounts.get(wallet) ??
    assertPresent(readAddress(associatedTokenAccount({ wallet, tokenProgram, mint })), 'it is an address')
  accounts.set(wallet, account)
  return account
}

// Twelve wallets, so that some share an account, lack the associated one, or have it frozen.
const wallets = Array.from({ length: 12 }, (_, k) =>
  assertPresent(readAddress(encodeBase58(new Uint8Array(32).fill(k + 1))), '32 bytes are an address'),
)
const anyHolding = fc.record({
  wallet: fc.constantFrom(...wallets),
  other: fc.option(anyAddress, { nil: undefined }),
  baseUnits: fc.oneof(fc.constantFrom(0n, 39n, 40n), anyAmount),
  isFrozen: fc.integer({ min: 0, max: 4 }).map((odds) => odds === 0),
})

const anySnapshot = fc.array(anyHolding, { maxLength: 30 }).map((holdings) => {
  const held = holdings.map(({ wallet: owner, other, baseUnits, isFrozen }) => {
    return { address: other ?? tokenAccountOf(owner), owner, baseUnits, isFrozen }
  })
  const each = [...new Map(held.map((account) => [account.address, account])).values()]
  const ordered = each.toSorted((one, next) => (one.address < next.address ? -1 : 1))
  return { network: 'solana:test', mint, tokenProgram, decimals: 6, slot: 900, accounts: ordered }
})
const anyRules = fc.record({
  excluded: fc.subarray(wallets, { maxLength: 3 }),
  minimumBaseUnits: fc.constantFrom(1n, 40n),
  openAccountsMax: fc.nat(3),
})
const account = 'Liabilities:Share:holders'
const place = { network: 'solana:test', mint, decimals: 6, paymentWallet, position: 12, slot: 901 }

test('the audit derives the lines of each plan from its snapshot, and the file yields the same plan', () => {
  let plans = 0
  fc.assert(
    fc.property(anySnapshot, anyRules, anyAmount, (snapshot, rules, amountBaseUnits) => {
      const text = snapshotText(snapshot)
      expect(readSnapshot(text)).toEqual(snapshot)
      const snapshotSha256 = snapshotDigest(text)
      const question = { ...place, ...rules, account, amountBaseUnits, snapshot, snapshotSha256, tokenAccountOf }
      const plan = planHolderPayout(question)
      const audited = assertPresent(readHolderSnapshot(text), 'the audit reads the snapshot')
      expect(audited.sha256).toBe(snapshotSha256)
      const terms = { account, amountBaseUnits, snapshotSha256, snapshotSlot: 900, ...rules, lines: 0, parts: 0 }
      const derived = derivePlan(terms, audited)
      const lines = plan?.parts.map((part) => part.map(({ wallet, baseUnits }) => ({ wallet, baseUnits }))) ?? []
      expect(derived).toEqual(lines)
      if (plan === undefined) return
      plans += 1
      expect(readPayoutPlan(JSON.parse(JSON.stringify(payoutPlanJson(plan))))).toEqual(plan)
      const paid = plan.parts.flat().map(({ wallet }) => wallet)
      expect(paid.filter((wallet) => rules.excluded.includes(wallet))).toEqual([])
    }),
  )
  expect(plans).toBeGreaterThan(20)
})

test('a snapshot in another form than the canonical one is rejected, by the service and by the audit', () => {
  const [first = mint, second = mint] = wallets
  const held = [first, second].map((owner) => ({ address: owner, owner, baseUnits: 5n, isFrozen: false }))
  const text = snapshotText({
    network: 'solana:test',
    mint,
    tokenProgram,
    decimals: 6,
    slot: 900,
    accounts: held.toSorted((one, other) => (one.address < other.address ? -1 : 1)),
  })
  const [head = '', one = '', two = ''] = text.split('\n')
  for (const changed of [
    text.trimEnd(),
    `${text}\n`,
    `${head}\n${two}\n${one}\n`,
    `${head}\n${one}\n`,
    text.replace(' 5 ', ' 05 '),
    text.replace('open', 'thawed'),
    text.replace('"slot":900', '"slot":"900"'),
    text.replaceAll('\n', '\r\n'),
  ]) {
    expect(changed).not.toBe(text)
    expect(readSnapshot(changed)).toBeUndefined()
    expect(readHolderSnapshot(changed)).toBeUndefined()
  }
})

test('eight lines that open an account each fit into a transaction', () => {
  const payments = wallets.slice(0, 8).map((wallet) => ({ wallet, baseUnits: u64Max }))
  const [source = mint, feePayer = mint, token = mint] = wallets.slice(8)
  const terms = { ...place, tokenProgram: token, paymentTokenAccount: source }
  const memo = payoutMemo({ id: `payout_${'f'.repeat(32)}` }, 99_999)
  const bytes = buildPayout({ terms, memo, payments, opens: wallets, blockhash: mint, feePayer })
  expect(bytes.length).toBeLessThanOrEqual(1_232)
})
