import { describe, expect, test } from 'vitest'
import { countText, tokensNumber, tokensText } from '../../src/pages/browser/amounts.ts'
import { decisionsFor } from '../../src/pages/browser/paymentDialog.ts'
import { lastQuarters } from '../../src/pages/browser/period.ts'
import { columnName, columnsShown } from '../../src/pages/browser/tables.ts'
import { createBurnPage, createFinancePage, createPageFiles } from '../../src/pages/pages.ts'
import { openPlainServer } from '../transport/plainServer.ts'

test.each([
  ['0', 6, '0'],
  ['1', 6, '0.000001'],
  ['1234567890', 6, '1,234.56789'],
  ['-1500000', 6, '−1.5'],
  ['-5', 0, '−5'],
  // More than a number holds exactly.
  ['9007199254740993000001', 6, '9,007,199,254,740,993.000001'],
])('%s base units with %i decimals are shown as %s tokens', (baseUnits, decimals, shown) => {
  expect(tokensText(baseUnits, decimals)).toBe(shown)
})

test('a chart has tokens of any number of decimals', () => {
  expect([tokensNumber('1500000000', 9), tokensNumber('1500000', 6), tokensNumber('-5', 0)]).toEqual([1.5, 1.5, -5])
})

test('counts are grouped by thousands', () => {
  expect([0, 999, 1_000, 1_234_567].map((count) => countText(count))).toEqual(['0', '999', '1,000', '1,234,567'])
})

test('a column of a share and one of dollars have names for people', () => {
  expect(columnName('share-burnBaseUnits')).toBe('Share burn')
  expect(columnName('burnOwedAtDayPriceMicroUsd')).toBe('Burn owed at day price (USD)')
  expect(columnName('providerBaseUnits')).toBe('Provider')
})

test('the fitting columns leave out the price of the day and rare amounts, and all columns are shown on request', () => {
  const columns = ['day', 'lostBaseUnits', 'providerBaseUnits', 'providerAtDayPriceMicroUsd']
  expect(columnsShown('distributions', columns, false)).toEqual(['day', 'providerBaseUnits'])
  expect(columnsShown('distributions', columns, true)).toEqual(columns)
})

describe('decisions about a payment', () => {
  const offered = (...given: Parameters<typeof decisionsFor>) => decisionsFor(...given).map(([action]) => action)

  test('a delivered answer is refunded once', () => {
    expect(offered({ code: 'delivered', booking: null }, [])).toEqual(['grant'])
    expect(offered({ code: 'delivered', booking: null }, [{ cause: 'granted', state: 'approved' }])).toEqual([])
  })

  test('an overpayment of a delivered answer is approved apart from a refund of its price', () => {
    expect(offered({ code: 'delivered', booking: null }, [{ cause: 'overpaid', state: 'due' }])).toEqual([
      'approve',
      'grant',
    ])
  })

  test('a debt that is approved or paid is not approved again', () => {
    for (const state of ['approved', 'part_paid', 'paid'] as const)
      expect(offered({ code: 'refund_due', booking: null }, [{ cause: 'undelivered', state }]), state).toEqual([])
  })

  test('a payment that can be recorded early offers that, in the words of its diagnosis', () => {
    expect(decisionsFor({ code: 'unmatched', booking: { kind: 'unmatched', words: 'Record it.' } }, [])).toEqual([
      ['record', 'Record it.'],
    ])
  })
})

test.each([
  ['2026-03-31', ['2026-Q1', '2025-Q4']],
  ['2026-06-30', ['2026-Q2', '2026-Q1']],
  ['2026-09-01', ['2026-Q3', '2026-Q2']],
  ['2026-12-31', ['2026-Q4', '2026-Q3']],
])('the quarters on %s begin with its own', (day, quarters) => {
  expect(lastQuarters(day).slice(0, 2)).toEqual(quarters)
})

test.each([
  ['finance', 'finance'],
  ['burn', 'page'],
])('the script of the %s page is one file, which needs no other', async (name, folder) => {
  const seller = 'Acme &amp; Sons'
  const burnRoutes = [await createBurnPage(seller), await createPageFiles()]
  const financeRoutes = await createFinancePage(seller, '<option>One</option>')
  const { port } = await openPlainServer({ freeRoutes: [...financeRoutes, ...burnRoutes] })
  const answer = await fetch(`http://127.0.0.1:${port}/${folder}/${name}.js`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
  expect(await (await fetch(`http://127.0.0.1:${port}/${name}`)).text()).toContain('<strong>Acme &amp; Sons</strong>')
  expect(await (await fetch(`http://127.0.0.1:${port}/finance`)).text()).toContain('<option>One</option>')
  expect(await answer.text()).not.toMatch(/\bimport\s*[{*"']|\bfrom\s*["']\.|process\.env|node:/)
  expect((await fetch(`http://127.0.0.1:${port}/${folder}/${name}.ts`)).status).toBe(404)
})
