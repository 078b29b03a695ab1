import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accounts } from '../../src/accounting/account.ts'
import { entriesOf } from '../../src/accounting/posting.ts'
import { postingsOf } from '../../src/accounting/postingRules.ts'
import type { LedgerEvent } from '../../src/payment/events.ts'
import { anyAddress, anyEvent, anyPrice, anySettlement } from '../store/arbitraryEvent.ts'

function entriesFor(...events: readonly LedgerEvent[]) {
  return events.flatMap((event) => entriesOf(postingsOf(event)))
}

function balanceOf(entries: ReturnType<typeof entriesFor>, account: string): bigint {
  return entries.filter((entry) => entry.account === account).reduce((sum, entry) => sum + entry.amountBaseUnits, 0n)
}

test('I17: the entries of any event sum to zero per mint, and none of them is of nothing', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const sums = new Map<string, bigint>()
      for (const { mint, amountBaseUnits } of entriesFor(event)) {
        expect(amountBaseUnits).not.toBe(0n)
        sums.set(mint, (sums.get(mint) ?? 0n) + amountBaseUnits)
      }
      expect([...sums.values()].every((sum) => sum === 0n)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('I17: a posting of nothing, of a debt or of an account with itself is a bug and not an entry', () => {
  const posting = { debit: accounts.paymentWallet, credit: accounts.unearned, mint: 'mint', amountBaseUnits: 1n }
  expect(entriesOf([posting])).toHaveLength(2)
  for (const amountBaseUnits of [0n, -1n])
    expect(() => entriesOf([{ ...posting, amountBaseUnits }])).toThrow(/positive/)
  expect(() => entriesOf([{ ...posting, credit: accounts.paymentWallet }])).toThrow(/two accounts/)
})

test('I18: a delivered payment leaves nothing owed for it: burn, provider, holders and treasury are what was required', () => {
  fc.assert(
    fc.property(anySettlement, (settlement) => {
      const { price, wallet, burnedBaseUnits, receivedBaseUnits } = settlement
      const { mint, endpoint, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits } = price
      const entries = entriesFor(
        { kind: 'PaymentVerified', settlement },
        { kind: 'TokensBurned', mint, endpoint, burnedBaseUnits },
        { kind: 'DistributionAllocated', mint, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits },
      )
      expect(balanceOf(entries, accounts.unearned)).toBe(0n)
      expect(balanceOf(entries, accounts.paymentWallet)).toBe(receivedBaseUnits)
      expect(balanceOf(entries, accounts.burned)).toBe(burnedBaseUnits)
      const shares = [accounts.provider, accounts.holders, accounts.treasury].map(
        (account) => -balanceOf(entries, account),
      )
      expect(shares).toEqual([providerBaseUnits, holdersBaseUnits, treasuryBaseUnits])
      expect(shares.reduce((sum, share) => sum + share, price.burnBaseUnits)).toBe(price.requiredBaseUnits)
      const over = receivedBaseUnits - (price.requiredBaseUnits - price.burnBaseUnits)
      expect(balanceOf(entries, `Liabilities:Overpaid:${wallet}`)).toBe(-over)
    }),
    { numRuns: 300 },
  )
})

test('I18: an undelivered payment is owed to the caller in full, whatever the number of failed attempts', () => {
  fc.assert(
    fc.property(anySettlement, fc.nat(5), (settlement, failures) => {
      const failed = Array.from({ length: failures }, (_, index): LedgerEvent => {
        return { kind: 'RequestFailed', attempt: index + 1, attemptId: 'a', reason: 'no_data' }
      })
      const entries = entriesFor({ kind: 'PaymentVerified', settlement }, ...failed)
      const owed = [accounts.unearned, `Liabilities:Overpaid:${settlement.wallet}`].map(
        (name) => -balanceOf(entries, name),
      )
      expect(owed.reduce((sum, amount) => sum + amount, 0n)).toBe(settlement.receivedBaseUnits)
    }),
  )
})

test('events that move no money have no entries, however their fields read', () => {
  fc.assert(
    fc.property(anyAddress, anyPrice, (wallet, price) => {
      const { endpoint } = price
      const quiet: readonly LedgerEvent[] = [
        { kind: 'PaymentSubmitted', wallet, endpoint, quoteId: undefined, transactionBase64: '' },
        { kind: 'PriceListPublished', source: 'fixed', prices: [price] },
      ]
      expect(entriesFor(...quiet)).toEqual([])
    }),
  )
})
