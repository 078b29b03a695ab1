import { systemClock } from '@tollbook/core/clock'
import { expect, test } from 'vitest'
import { acceptedDollars, type AcceptedDollar } from '../../src/document/acceptedDollars.ts'
import { llmsText, x402Resources } from '../../src/document/discovery.ts'
import { landingPage } from '../../src/document/landingPage.ts'
import { createOpenApi } from '../../src/document/openApi.ts'
import { paymentPage } from '../../src/document/paymentPage.ts'
import { createPriceCatalog } from '../../src/document/priceCatalog.ts'
import { referencePage } from '../../src/document/referencePage.ts'
import type { Price } from '@tollbook/core/quote'
import type { Dollar } from '../../src/payment/dollar.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { defaultSeller } from '../../src/product/seller.ts'
import { transportErrors } from '../../src/transport/transportError.ts'
import { otherWallet, referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'
import { samplePrice } from '../store/samplePayment.ts'
import { products } from '../support/builtinProducts.ts'

const { mint } = settlementOf(referenceNumber(1)).price
const terms = {
  mint,
  decimals: 6,
  tokenProgram: mint,
  paymentWallet: mint,
  paymentTokenAccount: mint,
  network: 'solana:x',
}
const usdc: Dollar = {
  symbol: 'USDC',
  minimumMicroUsd: 10_000n,
  burn: 'token',
  rails: ['x402', 'mpp'],
  terms: { ...terms, mint: wallet },
}
const unburned: Dollar = {
  symbol: 'XUSD',
  minimumMicroUsd: 1n,
  burn: 'none',
  rails: ['x402'],
  terms: { ...terms, mint: otherWallet, decimals: 9, paymentWallet: wallet },
}
const sample = (fetchArguments: string) => fetchArguments
const rails = [
  { name: 'x402', description: { protocol: 'x402', request: 'to `/x402` + path', mount: '/x402', sample } },
  { name: 'mpp', description: { protocol: 'MPP', request: 'with a header', offer: { method: 'solana' }, sample } },
  { name: 'native' },
]
const describe = (...dollars: readonly Dollar[]) => acceptedDollars(dollars, { rails, split: defaultSplit })

const endpoints = products.slice(0, 2).map((product) => ({
  ...product,
  whyUnavailable: () => undefined,
  suppliedBy: () => 'providers' as const,
  probes: [],
  read: () => ({ ok: false, issues: [] }) as const,
}))

/** Texts of all documents, by their address. */
function documentsWith(dollars: readonly AcceptedDollar[], price?: Price): Readonly<Record<string, string>> {
  const offer = { endpoints, searches: [], split: defaultSplit, token: { symbol: 'TOLL' }, seller: defaultSeller }
  const facts = { ...offer, rails, mint, terms, dollars, currentPrice: () => price }
  const urls = { baseUrl: 'https://api.example', linkBase: '' }
  const now = { clock: { ...systemClock, nowMs: () => 0 }, whyClosed: () => undefined }
  const openApi = createOpenApi({ ...facts, version: '1', freePaths: [], transportStatuses: transportErrors })(urls)
  const catalog = createPriceCatalog({ ...facts, ...now })()
  const [endpoint] = endpoints
  if (endpoint === undefined) throw new Error('no product')
  const page = { endpoint, at: '/pay', sellerName: 'Acme', network: 'solana:x', hasTestWallet: false }
  return {
    '/api/catalog': JSON.stringify(catalog),
    '/openapi.json': JSON.stringify(openApi),
    '/.well-known/x402': JSON.stringify(x402Resources(facts, urls.baseUrl)),
    '/llms.txt': llmsText(facts, ''),
    '/': landingPage({ ...facts, ...urls, catalog, isLocal: true }),
    '/docs': referencePage(openApi, endpoints),
    '/pay': paymentPage({ ...facts, ...page }),
  }
}

const plain = (page: string) => page.replaceAll(/<span class="mono">(.*?)<\/span>/g, '$1')
const paths = Object.keys(documentsWith([]))
const both = describe(usdc, unburned)

test('a dollar is described by its mint, rails and smallest price, and by what is burned for it', () => {
  const mints = [usdc.terms.mint, unburned.terms.mint]
  expect(both).toEqual([
    {
      symbol: 'USDC',
      mint: mints[0],
      decimals: 6,
      paymentWallet: mint,
      rails: ['x402', 'mpp'],
      minimumMicroUsd: 10_000n,
      burn: 'token',
      description: `USDC (mint ${mints[0]}, 6 decimals) pays by x402 and MPP to ${mint} for prices from $0.01. 30% of the price is burned, in the token; the treasury delivers the tokens.`,
    },
    {
      symbol: 'XUSD',
      mint: mints[1],
      decimals: 9,
      paymentWallet: wallet,
      rails: ['x402'],
      minimumMicroUsd: 1n,
      burn: 'none',
      description: `XUSD (mint ${mints[1]}, 9 decimals) pays by x402 to ${wallet} for prices from $0.000001. Nothing is burned for payments in XUSD.`,
    },
  ])
})

test('a dollar is described by the open rails only', () => {
  const openTo = (names: readonly string[]) => ({
    rails: rails.filter(({ name }) => names.includes(name)),
    split: defaultSplit,
  })
  expect(acceptedDollars([usdc, unburned], openTo(['mpp', 'native']))).toMatchObject([
    { symbol: 'USDC', rails: ['mpp'] },
  ])
  expect(acceptedDollars([usdc, unburned], openTo(['native']))).toEqual([])
})

test.each(paths)('%s names each dollar, with its burn or that nothing is burned for it', (path) => {
  const text = plain(documentsWith(both)[path] ?? '')
  for (const { description } of both) expect(text).toContain(description)
})

test('documents for programs have the facts as members', () => {
  const read = (path: string) => JSON.parse(documentsWith(both)[path] ?? '')
  const shown = both.map(({ minimumMicroUsd, ...dollar }) => ({ ...dollar, minimumUSD: Number(minimumMicroUsd) / 1e6 }))
  expect(read('/api/catalog').dollars).toEqual(shown)
  expect(read('/.well-known/x402').dollars).toEqual(shown)
  expect(read('/openapi.json')['x-dollars']).toEqual(shown)
})

test('a price in tokens has the decimals of the token', () => {
  const price = { ...samplePrice(), priceList: 1, decimals: 9, requiredBaseUnits: 2_500_000_000n }
  const documents = documentsWith([], price)
  expect(documents['/openapi.json']).toContain('"x-price-tokens":2.5,')
  expect(documents['/api/catalog']).toContain('"requiredTokens":2.5,"requiredBaseUnits":"2500000000"')
})

test('the landing page promises a burn of each price only if nothing is sold without one', () => {
  const promises = ['30% of each price leaves the supply', 'that they have, and we burn.']
  for (const promise of promises) {
    expect(documentsWith(describe(usdc))['/']).toContain(promise)
    expect(documentsWith(both)['/']).not.toContain(promise)
  }
  expect(documentsWith(both)['/']).toContain('30% of each price in TOLL leaves the supply')
})

/** Additions to each document for dollars. The rest has to be the same, byte for byte. */
const additions: Readonly<Record<string, RegExp>> = {
  '/api/catalog': /"dollars":\[.*?\],(?="paymentWallet")/,
  '/openapi.json':
    /\\n\\n## Dollars.*?(?=\\n\\n## The proof)|"x-dollars":\[.*?\],(?="servers")|,\{"method":"solana","amount":"\d+","currency":"[^"]+","description":"[^"]*"\}/g,
  '/.well-known/x402': /"dollars":\[.*?\],(?="instructions")/,
  '/llms.txt': /Dollars are accepted.*\n- USDC.*\n\n/,
  '/': /\n *<p class="muted">Dollars are accepted.*<\/p>\n *<ul class="muted">[^]*?<\/ul>/,
  '/docs': /<h2 id="dollars">[^]*?<\/ul>\n|<li><a href="#dollars">Dollars<\/a><\/li>/g,
  '/pay': /\n *<p class="muted">Dollars are accepted.*<\/p>\n *<ul class="muted">[^]*?<\/ul>/,
}

test.each(paths)('%s is the same without dollars, byte for byte, except for their description', (path) => {
  const text = documentsWith(describe(usdc))[path] ?? ''
  const without = documentsWith([])[path]
  expect(text).not.toBe(without)
  expect(text.replace(additions[path] ?? '', '')).toBe(without)
})
