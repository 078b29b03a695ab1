import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accounts, burnedFor, overpaidBy, shareOf } from '../../src/accounting/account.ts'
import { createEventCodec } from '../../src/payment/eventCodec.ts'
import { type AnyEvent, defineEvent } from '../../src/payment/events/eventDefinition.ts'
import { ledgerCodec, type LedgerEvent } from '../../src/payment/events.ts'
import { isPaidWhole, type Settlement } from '../../src/payment/settlement.ts'
import { z } from 'zod'
import { anyAddress, anyEvent, anyPrice, anySettlement } from '../store/arbitraryEvent.ts'
import { balancesOf } from './balances.ts'

function balanceOf(events: readonly LedgerEvent[], account: string): bigint {
  return balancesOf(ledgerCodec, events).get(account) ?? 0n
}

test('I17: the entries of any event sum to zero, and none of them is of nothing', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const postings = ledgerCodec.postingsOf(event)
      expect(postings.every(({ amountBaseUnits }) => amountBaseUnits > 0n)).toBe(true)
      expect(postings.every(({ debit, credit }) => debit !== credit)).toBe(true)
      const sum = [...balancesOf(ledgerCodec, [event]).values()].reduce((total, amount) => total + amount, 0n)
      expect(sum).toBe(0n)
    }),
    { numRuns: 500 },
  )
})

interface Moved extends AnyEvent {
  readonly kind: 'Moved'
}

test('I17: a posting of a debt or of an account with itself is a bug and not an entry', () => {
  const moved = (debit: 'Assets:A' | 'Assets:B', amountBaseUnits: bigint) =>
    createEventCodec<Moved>([
      defineEvent<Moved>(z.object({ kind: z.literal('Moved') }), () => [
        { debit, credit: 'Assets:B', mint: 'mint', amountBaseUnits },
      ]),
    ]).postingsOf({ kind: 'Moved' })
  expect(moved('Assets:A', 1n)).toHaveLength(1)
  expect(moved('Assets:A', 0n)).toEqual([])
  expect(() => moved('Assets:A', -1n)).toThrow(/positive/)
  expect(() => moved('Assets:B', 1n)).toThrow(/two accounts/)
})

function verification(settlement: Settlement): readonly LedgerEvent[] {
  const { price, burnedBaseUnits } = settlement
  const { mint, endpoint } = price
  const burned = { kind: 'TokensBurned', mint, endpoint, burnedBaseUnits } as const
  return [{ kind: 'PaymentVerified', settlement }, ...(isPaidWhole(settlement) ? [] : [burned])]
}

function delivery(settlement: Settlement): readonly LedgerEvent[] {
  const { mint, endpoint, shares, burnBaseUnits: owedBaseUnits } = settlement.price
  const owed = { kind: 'BurnOwed', mint, endpoint, owedBaseUnits } as const
  return [...(isPaidWhole(settlement) ? [owed] : []), { kind: 'DistributionAllocated', mint, parts: shares }]
}

test('I18: a delivered payment leaves nothing owed for it: burn and shares are what was required', () => {
  fc.assert(
    fc.property(anySettlement, (settlement) => {
      const { price, wallet, burnedBaseUnits, receivedBaseUnits } = settlement
      const { endpoint, shares, burnBaseUnits, requiredBaseUnits } = price
      const events = [...verification(settlement), ...delivery(settlement)]
      expect(balanceOf(events, accounts.unearned)).toBe(0n)
      expect(balanceOf(events, accounts.paymentWallet)).toBe(receivedBaseUnits)
      const isOwed = isPaidWhole(settlement)
      expect(balanceOf(events, burnedFor(endpoint))).toBe(isOwed ? 0n : burnedBaseUnits)
      expect(balanceOf(events, accounts.burnOwed)).toBe(isOwed ? -burnBaseUnits : 0n)
      expect(shares.map(({ account }) => -balanceOf(events, shareOf(account)))).toEqual(
        shares.map(({ baseUnits }) => baseUnits),
      )
      expect(shares.reduce((sum, { baseUnits }) => sum + baseUnits, burnBaseUnits)).toBe(requiredBaseUnits)
      const over = receivedBaseUnits - (requiredBaseUnits - (isOwed ? 0n : burnBaseUnits))
      expect(balanceOf(events, overpaidBy(wallet))).toBe(-over)
    }),
    { numRuns: 300 },
  )
})

test('I18: an undelivered payment is owed to the caller in full, whatever the number of failed attempts', () => {
  fc.assert(
    fc.property(anySettlement, fc.nat(5), (settlement, failures) => {
      const { mint } = settlement.price
      const failed = Array.from({ length: failures }, (_, index): LedgerEvent => {
        const attempt = { attempt: index + 1, attemptId: 'a', reason: 'no_data' } as const
        return { kind: 'RequestFailed', ...attempt, mint, exposedBaseUnits: 0n }
      })
      const events = [...verification(settlement), ...failed]
      expect(balanceOf(events, accounts.burnOwed)).toBe(0n)
      const owed = [accounts.unearned, overpaidBy(settlement.wallet)]
      const sum = owed.reduce((total, name) => total - balanceOf(events, name), 0n)
      expect(sum).toBe(settlement.receivedBaseUnits)
    }),
  )
})

test('events that move no money have no entries, however their fields read', () => {
  fc.assert(
    fc.property(anyAddress, anyPrice, (wallet, price) => {
      const { endpoint } = price
      const quiet: readonly LedgerEvent[] = [
        { kind: 'PaymentSubmitted', wallet, endpoint, quoteId: undefined, transactionBase64: '' },
        { kind: 'PriceListPublished', source: 'fixed', split: [], prices: [price] },
      ]
      expect(quiet.flatMap((event) => ledgerCodec.postingsOf(event))).toEqual([])
    }),
  )
})
