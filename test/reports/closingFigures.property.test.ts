import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ClosingStatement, findClosingProblem } from '@tollbook/core/closingStatement'
import { closingFigures, type ClosingLine } from '../../src/reports/closing/closingFigures.ts'

/* Any entries that sum to zero in each part, as the entries of events do. */

const accounts = [
  'Assets:PaymentWallet',
  'Liabilities:Unearned',
  'Liabilities:BurnOwed',
  'Liabilities:Share:provider',
  'Liabilities:Overpaid',
  'Expenses:Burned',
  'Income:BurnedByCallers',
  'Expenses:ReversedPayments',
]
const posting = fc.record({
  part: fc.constantFrom<ClosingLine['part']>('opening', 'month', 'restated'),
  kind: fc.constantFrom('payment', 'payout', 'burn', 'refund', 'new_kind'),
  debit: fc.constantFrom(...accounts),
  credit: fc.constantFrom(...accounts),
  baseUnits: fc.bigInt({ min: 0n, max: 10n ** 24n }),
  picoUsd: fc.bigInt({ min: 0n, max: 10n ** 24n }),
})
const price = fc.option(
  fc.record({
    day: fc.constant('2026-10-31'),
    priceMicroUsd: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    forBaseUnits: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  }),
  { nil: undefined },
)

function linesOf(postings: readonly (typeof posting extends fc.Arbitrary<infer One> ? One : never)[]): ClosingLine[] {
  return postings.flatMap(({ part, kind, debit, credit, baseUnits, picoUsd }) => [
    {
      part,
      kind,
      account: debit,
      debitBaseUnits: baseUnits,
      creditBaseUnits: 0n,
      quotedPicoUsd: picoUsd,
      debitDayPicoUsd: picoUsd,
      creditDayPicoUsd: 0n,
    },
    {
      part,
      kind,
      account: credit,
      debitBaseUnits: 0n,
      creditBaseUnits: baseUnits,
      quotedPicoUsd: -picoUsd,
      debitDayPicoUsd: 0n,
      creditDayPicoUsd: picoUsd,
    },
  ])
}

const frame: Omit<ClosingStatement, 'accounts' | 'totals' | 'owedBaseUnits' | 'restated' | 'restatedCount'> = {
  format: 'tollbook-closing',
  version: 1,
  origin: 'tollbook/test',
  mint: 'mint',
  decimals: 6,
  month: '2026-10',
  status: 'final',
  closesAt: '2026-11-02T00:00:00.000Z',
  position: 9,
  treeSize: 9,
  root: '',
  closingPrice: null,
  recordedLater: [],
  recordedLaterCount: 0,
  issuedAt: '2026-11-03T00:00:00.000Z',
}

test('a statement of any postings balances, and each line is the sum of its entries', () => {
  fc.assert(
    fc.property(fc.array(posting, { maxLength: 40 }), price, (postings, closingPrice) => {
      const lines = linesOf(postings)
      const figures = closingFigures(lines, closingPrice)
      const late = lines.filter(({ part }) => part === 'restated')
      const restated = late.map((line) => ({
        position: 1,
        day: '2026-09-01',
        account: line.account,
        debitBaseUnits: line.debitBaseUnits.toString(),
        creditBaseUnits: line.creditBaseUnits.toString(),
      }))
      expect(findClosingProblem({ ...frame, ...figures, restated, restatedCount: restated.length })).toBeUndefined()
      const names = figures.accounts.map(({ account }) => account)
      expect(names).toEqual(names.toSorted())
      for (const { account, closingBaseUnits, debitBaseUnits } of figures.accounts) {
        const own = lines.filter((line) => line.account === account)
        const sum = own.reduce((total, line) => total + line.debitBaseUnits - line.creditBaseUnits, 0n)
        expect(BigInt(closingBaseUnits)).toBe(sum)
        const debits = own
          .filter(({ part }) => part === 'month')
          .reduce((total, line) => total + line.debitBaseUnits, 0n)
        expect(BigInt(debitBaseUnits)).toBe(debits)
      }
    }),
    { numRuns: 300 },
  )
})

test('one base unit too many in any column is found', () => {
  const lines = linesOf([
    {
      part: 'opening',
      kind: 'payment',
      debit: 'Assets:PaymentWallet',
      credit: 'Liabilities:Unearned',
      baseUnits: 5n,
      picoUsd: 1n,
    },
    {
      part: 'month',
      kind: 'payment',
      debit: 'Liabilities:Unearned',
      credit: 'Liabilities:Share:provider',
      baseUnits: 3n,
      picoUsd: 1n,
    },
  ])
  const statement = { ...frame, ...closingFigures(lines, undefined), restated: [], restatedCount: 0 }
  expect(findClosingProblem(statement)).toBeUndefined()
  const columns = [
    'openingBaseUnits',
    'debitBaseUnits',
    'creditBaseUnits',
    'restatedBaseUnits',
    'closingBaseUnits',
  ] as const
  for (const [index, line] of statement.accounts.entries())
    for (const column of columns) {
      const changed = { ...line, [column]: String(BigInt(line[column]) + 1n) }
      expect(findClosingProblem({ ...statement, accounts: statement.accounts.with(index, changed) })).toBeDefined()
    }
})

test('a refund that was granted is in its total, and not among the refunds that arose from payments', () => {
  const move = { part: 'month', kind: 'refund', quotedPicoUsd: 0n, debitDayPicoUsd: 0n, creditDayPicoUsd: 0n } as const
  const { totals } = closingFigures(
    [
      { ...move, account: 'Expenses:RefundsGranted', debitBaseUnits: 7n, creditBaseUnits: 0n },
      { ...move, account: 'Liabilities:RefundsDue', debitBaseUnits: 0n, creditBaseUnits: 7n },
    ],
    undefined,
  )
  expect(totals).toMatchObject({ refundsGranted: { baseUnits: '7' }, refundsArisen: { baseUnits: '0' } })
})
