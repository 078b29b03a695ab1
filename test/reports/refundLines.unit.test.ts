import fc from 'fast-check'
import { expect, test } from 'vitest'
import { refundLines, type RefundMove } from '../../src/reports/refundLines.ts'

const account = 'Liabilities:Overpaid:w'
const mint = 'mint'
const owed = (position: number, reference: string, baseUnits: bigint): RefundMove => {
  return { kind: 'owed', position, reference, account, mint, baseUnits }
}
const decided = (
  position: number,
  reference: string,
  baseUnits: bigint,
  kind: 'approved' | 'granted' = 'approved',
): RefundMove => {
  const decision = { kind, by: 'mira', role: 'finance', reason: 'asked', decidedAt: '', position }
  return { kind: 'decided', position, reference, account, mint, baseUnits, decision }
}
const paid = (position: number, baseUnits: bigint): RefundMove => {
  return { kind: 'paid', position, account, mint, baseUnits, payout: { reference: `payout${position}`, paidAt: '' } }
}
const statesOf = (moves: readonly RefundMove[]) =>
  refundLines(moves).map(({ reference, state, paidBaseUnits }) => [reference, state, paidBaseUnits])

test('a payout pays the oldest debt first, and an approved one before it', () => {
  const debts = [owed(1, 'a', 5n), owed(2, 'b', 3n)]
  expect(statesOf(debts)).toEqual([
    ['a', 'due', 0n],
    ['b', 'due', 0n],
  ])
  expect(statesOf([...debts, paid(3, 4n)])).toEqual([
    ['a', 'part_paid', 4n],
    ['b', 'due', 0n],
  ])
  expect(statesOf([...debts, decided(3, 'b', 3n), paid(4, 4n)])).toEqual([
    ['a', 'part_paid', 1n],
    ['b', 'paid', 3n],
  ])
  // Of two approved debts the one that was approved first.
  expect(statesOf([...debts, decided(3, 'b', 3n), decided(4, 'a', 5n), paid(5, 3n)])).toEqual([
    ['a', 'approved', 0n],
    ['b', 'paid', 3n],
  ])
  // A later approval does not change whom an earlier payout has paid.
  expect(statesOf([...debts, paid(3, 5n), decided(4, 'b', 3n)])).toEqual([
    ['a', 'paid', 5n],
    ['b', 'approved', 0n],
  ])
})

test('moves are read by their position, in whatever order they are given', () => {
  const moves = [owed(1, 'a', 5n), owed(2, 'b', 3n), paid(3, 5n), decided(4, 'b', 3n)]
  expect(refundLines(moves.toReversed())).toEqual(refundLines(moves))
})

test('a granted refund is a debt by itself, and a debt that was taken back is none', () => {
  const lines = refundLines([owed(1, 'a', 5n), owed(2, 'a', -5n), decided(3, 'c', 2n, 'granted')])
  expect(lines).toMatchObject([{ reference: 'c', cause: 'granted', state: 'approved', owedBaseUnits: 2n }])
})

test('a debt of which a part is approved is due until all of it is', () => {
  const half = [owed(1, 'a', 10n), decided(2, 'a', 5n)]
  expect(refundLines(half)).toMatchObject([{ state: 'due', owedBaseUnits: 10n, approvedBaseUnits: 5n }])
  expect(refundLines([...half, decided(3, 'a', 4n)])).toMatchObject([{ state: 'due', approvedBaseUnits: 9n }])
  expect(refundLines([...half, decided(3, 'a', 5n)])).toMatchObject([{ state: 'approved', approvedBaseUnits: 10n }])
})

test('payouts of an account are attributed to the base unit, and no debt is paid twice', () => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 50n }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(amounts, fc.array(fc.nat({ max: 7 })), fc.bigInt({ min: 0n, max: 400n }), (debts, approved, payout) => {
      const all = debts.reduce((sum, debt) => sum + debt, 0n)
      const amount = payout < all ? payout : all
      const lines = refundLines([
        ...debts.map((debt, index) => owed(index, `p${index}`, debt)),
        ...[...new Set(approved)]
          .filter((index) => index < debts.length)
          .map((index) => decided(100 + index, `p${index}`, debts[index] ?? 0n)),
        ...(amount === 0n ? [] : [paid(900, amount)]),
      ])
      expect(lines.reduce((sum, line) => sum + line.paidBaseUnits, 0n)).toBe(amount)
      for (const line of lines) expect(line.paidBaseUnits <= line.owedBaseUnits).toBe(true)
    }),
  )
})
