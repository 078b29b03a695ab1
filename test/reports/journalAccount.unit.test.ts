import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { journalAccount } from '../../src/reports/export/journalAccount.ts'

const kinds = [
  'Liabilities:Overpaid',
  'Liabilities:RefundsDue',
  'Liabilities:Unmatched',
  'Liabilities:Share',
  'Expenses:Burned',
  'Liabilities:Prepaid',
]
const open = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.webPath({ size: 'medium' }).filter((path) => path !== ''),
  fc.stringMatching(/^[a-zA-Z0-9/:-]{1,12}$/),
  fc.stringMatching(/^[ab]?[A ]?-?U?(0020)?b?$/).filter((name) => name !== ''),
)
const accounts = fc.tuple(fc.constantFrom(...kinds), open).map(([kind, name]) => `${kind}:${name}`)

test.each([
  ['Assets:PaymentWallet', 'Assets:PaymentWallet'],
  ['Liabilities:Overpaid:9xQeWvG8', 'Liabilities:Overpaid:W-9xQeWvG8'],
  ['Liabilities:Share:provider', 'Liabilities:Share:Provider'],
  ['Liabilities:Share:Provider', 'Liabilities:Share:X-Provider'],
  ['Liabilities:Share:data-partners', 'Liabilities:Share:Data-U002dpartners'],
  ['Expenses:Burned:/api/data/crypto', 'Expenses:Burned:Api-data-crypto'],
  ['Expenses:Burned:api/data/crypto', 'Expenses:Burned:X-api-data-crypto'],
])('the beancount name of %s is %s', (account, name) => {
  expect(journalAccount(account, 'beancount')).toBe(name)
})

describe.each(['beancount', 'hledger'] as const)('%s names', (format) => {
  test('of different accounts differ', () => {
    fc.assert(
      fc.property(accounts, accounts, (one, other) => {
        expect(journalAccount(one, format) === journalAccount(other, format)).toBe(one === other)
      }),
      { numRuns: 5_000 },
    )
  })
})

test('beancount names have parts that begin with a capital or a digit', () => {
  fc.assert(
    fc.property(accounts, (account) => {
      const parts = journalAccount(account, 'beancount').split(':')
      expect(parts).toHaveLength(3)
      for (const part of parts) expect(part).toMatch(/^[A-Z0-9][A-Za-z0-9-]*$/)
    }),
    { numRuns: 5_000 },
  )
})

test('hledger names are those of the ledger where they are plain', () => {
  for (const account of ['Liabilities:Share:provider', 'Expenses:Burned:/api/data/crypto', 'Liabilities:BurnOwed'])
    expect(journalAccount(account, 'hledger')).toBe(account)
})
