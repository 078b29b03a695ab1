import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { schemaOf } from '../../src/document/jsonSchema.ts'
import { paymentPage } from '../../src/document/paymentPage.ts'
import { products } from '../support/builtinProducts.ts'

const endpoints = products.map((product) => ({
  ...product,
  whyUnavailable: () => undefined,
  suppliedBy: () => 'providers' as const,
  probes: [],
  read: () => ({ ok: false, issues: [] }) as const,
}))
const shape = z.object({ properties: z.record(z.string(), z.unknown()) })

const token = { symbol: 'TOLL', sourceUrl: 'https://exchange.example/toll' }

describe.each(endpoints)('the page of $path', (endpoint) => {
  const pageAt = (at: string) =>
    paymentPage({
      endpoint,
      at,
      token,
      mint: 'Mint',
      network: 'solana:x',
      sellerName: 'Acme',
      hasTestWallet: false,
      dollars: [],
    })

  test('has a field for each parameter, whatever its type', () => {
    const page = pageAt(endpoint.path)
    for (const name of Object.keys(shape.parse(schemaOf(endpoint.parameters)).properties))
      if (name !== 'stream') expect(page).toMatch(new RegExp(`name="${name}[."]`))
  })

  test('names the token, its mint and its source', () => {
    const page = pageAt(endpoint.path)
    expect(page).toContain('Paid in TOLL, mint <span class="mono">Mint</span>.')
    expect(page).toContain('<a href="https://exchange.example/toll">Get TOLL</a>')
  })

  test('reaches its files from both of its addresses', () => {
    for (const at of [endpoint.path, `/pay${endpoint.path}`]) {
      const [, script = ''] = /src="([^"]+pay\.js)"/.exec(pageAt(at)) ?? []
      expect(new URL(script, `http://host${at}`).pathname).toBe('/page/pay.js')
    }
  })
})
