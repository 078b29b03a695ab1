import { expect, test } from 'vitest'
import { paymentPage } from '../../src/document/paymentPage.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { createTabProduct } from '../../src/tabs/tabProduct.ts'
import { systemClock } from '@tollbook/core/clock'
import { type Answered, openPage } from './dom/openPage.ts'

const limits = { tabMaxMicroUsd: 10_000_000n, totalMaxMicroUsd: 10_000_000n, bearerDayMaxMicroUsd: 0n }
const unread = () => Promise.reject(new Error('no tab is opened here'))
const endpoint = openEndpoint(createTabProduct(limits), {
  clock: systemClock,
  tabs: { find: unread, balanceBaseUnits: unread },
  origin: 'tollbook/x',
  pricesOf: () => [],
  whyClosed: () => undefined,
})
const facts = { at: '/pay/api/tabs', token: { symbol: 'TOLL' }, sellerName: 'Acme', mint: 'Mint', network: 'x' }
const html = paymentPage({ ...facts, endpoint, hasTestWallet: true, dollars: [], tabPage: '/pay/api/tabs' })

const toll = { mint: 'Mint', symbol: 'TOLL', decimals: 6 }
const usdc = { mint: 'Dollar', symbol: 'USDC', decimals: 2 }
const shown = {
  mint: 'Mint',
  wallet: 'Payer',
  state: 'open',
  balanceBaseUnits: '1234500000',
  maxPerRequestBaseUnits: '5000000',
  maxPerDayBaseUnits: null,
  endsAt: '2026-12-26T12:00:00.000Z',
}
const custody = {
  mint: 'Mint',
  wallet: 'Holder',
  heldBaseUnits: '2000000000',
  prepaidBaseUnits: '1234500000',
  refundsDueBaseUnits: '0',
  isCovered: true,
}

const currencies: Answered = { json: { data: { token: toll, dollars: [usdc] } } }

function openTabPage(tab: Answered, held: Answered = { json: { data: custody } }, query = '', catalog = currencies) {
  return openPage({
    page: 'tab',
    html,
    url: `https://host/prefix/pay/api/tabs${query}`,
    answer({ path }) {
      if (path === '/prefix/api/catalog') return catalog
      return path === '/prefix/api/tabs/custody' ? held : tab
    },
  })
}

test('the page of tabs says how to open one at this service, with its deposits', async () => {
  const page = await openTabPage({ json: {} })
  expect(page.textOf('pre')).toContain('tab open --deposit-usd 5')
  expect(page.textOf('pre')).toContain('--base-url https://host/prefix --mint')
  expect(page.textOf('main')).toContain('Deposits: $1, $5, or $10.')
  expect(page.textOf('main')).toContain('Until then the operator holds the deposit.')
})

test('it shows balance and terms of a tab, and what the wallet of all tabs covers', async () => {
  const page = await openTabPage({ json: { data: shown } })
  page.fill('#tab', ' 4uQeVj5tqViQh7yWWGStvk ')
  page.submit('#ask')
  await page.until('the tab is shown', () => page.textsOf('#state dd').length > 0)
  expect(page.asked.at(-1)?.path).toBe('/prefix/api/tabs/4uQeVj5tqViQh7yWWGStvk')
  const names = ['Mint', 'Wallet', 'State', 'Balance', 'Max per request', 'Max per day', 'Ends at']
  expect(page.textsOf('#state dt')).toEqual(names)
  const state = ['Mint', 'Payer', 'open', '1,234.5 TOLL', '5 TOLL', 'none', '2026-12-26T12:00:00.000Z']
  expect(page.textsOf('#state dd')).toEqual(state)
  expect(page.textsOf('#custody dt')).toEqual(['Mint', 'Wallet', 'Held', 'Prepaid', 'Refunds due'])
  expect(page.textsOf('#custody dd')).toEqual(['Mint', 'Holder', '2,000 TOLL', '1,234.5 TOLL', '0 TOLL'])
  expect(page.textOf('#covered')).toBe('It covers all tabs.')
})

test('a tab of the address is shown at once, with its limit of a day', async () => {
  const limited = { ...shown, maxPerDayBaseUnits: '7000000' }
  const page = await openTabPage({ json: { data: limited } }, undefined, '?tab=abc')
  expect(page.textsOf('#state dd')).toContain('7 TOLL')
})

test('a tab in a dollar is shown in it, and the custody of each mint', async () => {
  const held = { ...custody, dollars: [{ ...custody, mint: 'Dollar', heldBaseUnits: '500' }] }
  const page = await openTabPage({ json: { data: { ...shown, mint: 'Dollar' } } }, { json: { data: held } }, '?tab=abc')
  expect(page.textsOf('#state dd')).toContain('12,345,000 USDC')
  expect(page.textsOf('#custody dd')).toEqual(expect.arrayContaining(['2,000 TOLL', '5 USDC']))
})

test('an unknown tab and a wallet that covers too little are named', async () => {
  const unknown = { status: 404, json: { error: 'no deposit has opened this tab' } }
  const page = await openTabPage(unknown, { json: { data: { ...custody, isCovered: false } } }, '?tab=abc')
  expect(page.textOf('#status')).toBe('no deposit has opened this tab')
  expect(page.textsOf('#state dd')).toEqual([])
  expect(page.textOf('#covered')).toBe('It does not cover all tabs: no deposit is sold.')
})

test('a catalog that cannot be read is named where an amount would be', async () => {
  const lost = { status: 503, json: { error: 'the service is starting' } }
  const page = await openTabPage({ json: { data: shown } }, undefined, '?tab=abc', lost)
  expect([page.textOf('#status'), page.textOf('#covered')]).toEqual([
    'the service is starting',
    'the service is starting',
  ])
  expect(page.textsOf('#state dd')).toEqual([])
})

test('the page of another product leads to it', () => {
  const { isDeposit: _none, ...other } = endpoint
  const page = paymentPage({
    ...facts,
    at: '/pay/a',
    endpoint: other,
    hasTestWallet: false,
    dollars: [],
    tabPage: '/pay/api/tabs',
  })
  expect(page).toContain('<a href="../pay/api/tabs">open a tab, or see one</a>')
})
