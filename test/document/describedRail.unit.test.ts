import { expect, test } from 'vitest'
import { llmsText, x402Resources } from '../../src/document/discovery.ts'
import { landingPage } from '../../src/document/landingPage.ts'
import { createOpenApi } from '../../src/document/openApi.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { transportErrors } from '../../src/transport/transportError.ts'
import { referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { defaultSeller, describeSeller } from '../../src/product/seller.ts'
import { products } from '../support/builtinProducts.ts'

/** A protocol that no document has heard of. */
const parcel = {
  name: 'parcel',
  description: {
    protocol: 'Parcel Post',
    request: 'with `Parcel: please`',
    mount: '/parcel',
    offer: { method: 'parcel' },
    sample: (fetchArguments: string) => `parcelFetch(${fetchArguments})`,
  },
}
const [crypto] = products
const endpoints = products.slice(0, 1).map((product) => ({
  ...product,
  whyUnavailable: () => undefined,
  suppliedBy: () => 'providers' as const,
  probes: [],
  read: () => ({ ok: false, issues: [] }) as const,
}))
const baseUrl = 'https://api.example'
const { mint } = settlementOf(referenceNumber(1)).price
const token = { symbol: 'TOLL' }
const facts = {
  endpoints,
  searches: [],
  rails: [parcel, { name: 'native' }],
  split: defaultSplit,
  token,
  mint,
  seller: defaultSeller,
  dollars: [],
}
const urls = { baseUrl, linkBase: '' }

test('a rail is described by every document in its own words', () => {
  const openApi = createOpenApi({
    ...facts,
    version: '1',
    freePaths: [],
    transportStatuses: transportErrors,
    currentPrice: () => undefined,
  })
  const document = JSON.parse(JSON.stringify(openApi(urls)))
  const path = String(crypto?.path)
  const { get: operation } = document.paths[path]
  expect(operation['x-payment-info']).toMatchObject({
    protocols: [{ parcel: { method: 'parcel', currency: mint } }, { native: {} }],
    offers: [{ method: 'parcel', currency: mint }],
  })
  expect(operation['x-codeSamples']).toContainEqual({
    lang: 'TypeScript',
    label: 'TypeScript, Parcel Post',
    source: expect.stringMatching(/^parcelFetch\('https:\/\/api\.example\/parcel\/api\/data\/crypto\?/),
  })
  expect(document.paths[`/parcel${path}`].get.tags).toEqual(['parcel'])
  expect(document.tags).toContainEqual({
    name: 'parcel',
    description: expect.stringContaining('clients of Parcel Post'),
  })

  expect(x402Resources(facts, baseUrl)).toMatchObject({ resources: [`${baseUrl}/parcel${path}`] })
  expect(llmsText({ ...facts, terms: { mint, network: 'solana:x' } }, '')).toContain(
    'A client of Parcel Post needs no wallet header and no SOL: send the same request with `Parcel: please`.',
  )
  const catalog = {
    products: [],
    searches: [],
    paymentWallet: mint,
    token: { mint, symbol: 'TOLL', decimals: 6, priceUSD: null, network: 'solana:x', sourceUrl: null },
    service: describeSeller(defaultSeller),
    asOf: '2026-11-21T12:00:00.000Z',
  }
  // An operator may keep the default name, and is still paid in real money.
  const landing = landingPage({ ...facts, ...urls, catalog, isLocal: false })
  expect(landing).toContain('Stock clients of Parcel Post pay')
  // Without JavaScript no figure replaces the ellipsis.
  expect(landing).toMatch(/<noscript>[^<]*<a href="api\/token\/burn-stats">/)
  expect(landing).not.toContain('No real money is involved')
  expect(landingPage({ ...facts, ...urls, catalog, isLocal: true })).toContain('No real money is involved')
})
