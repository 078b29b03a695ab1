import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { parseEntries } from '../../src/pricing/commaList.ts'
import { products } from '../support/builtinProducts.ts'
import { selectProducts } from '../../src/pricing/priceList.ts'
import { parsePrices, parseProductsOff } from '../../src/pricing/parsePrices.ts'
import { assert } from '@tollbook/core/assert'

const problemsOf = (parsed: ReturnType<typeof parsePrices> | ReturnType<typeof parseProductsOff>) =>
  parsed.ok ? [] : parsed.problems

describe('PRICES_USD', () => {
  test('gives prices in millionths of a dollar, exactly', () => {
    const parsed = parsePrices(' /api/data/crypto = 0.03 , /api/tools/pdf=0.000001,/api/ai/chat=10000')
    expect(parsed).toEqual({
      ok: true,
      value: new Map([
        ['/api/data/crypto', 30_000n],
        ['/api/tools/pdf', 1n],
        ['/api/ai/chat', 10_000_000_000n],
      ]),
    })
  })

  test.each([
    '/api/data/crypto',
    '/api/data/crypto=',
    '/api/data/crypto=0',
    '/api/data/crypto=-1',
    '/api/data/crypto=0.0000001',
    '/api/data/crypto=1e-2',
    '/api/data/crypto=0,02',
    '/api/data/crypto=10000.000001',
    'api/data/crypto=0.02',
    '/api/data/crypto/=0.02',
    '=0.02',
    ',',
  ])('refuses %j and names the entry', (setting) => {
    const problems = problemsOf(parsePrices(setting))
    expect(problems.length).toBeGreaterThan(0)
    for (const problem of problems) expect(problem).toMatch(/^(has|names) ".*"(:|more| more) ?.+/)
  })

  test('reports every mistake at once, with the value and the fix', () => {
    expect(problemsOf(parsePrices('/api/data/crypto=free,nonsense,/api/tools/pdf=1,/api/tools/pdf=2'))).toEqual([
      'has "/api/data/crypto=free": the price must be a decimal number of US dollars from 0.000001 to 10000, such as 0.03',
      'has "nonsense": write path=price, such as /api/data/crypto=0.03, separated by commas',
      'names "/api/tools/pdf" more than once; keep one price for it',
    ])
  })
})

test('an entry ends its name at the first sign, and white space around both parts is dropped', () => {
  expect(parseEntries(' a = b=c ,d', '=')).toEqual([
    { text: 'a = b=c', name: 'a', value: 'b=c' },
    { text: 'd', name: 'd', value: undefined },
  ])
})

describe('PRODUCTS_OFF', () => {
  test('lists paths', () => {
    expect(parseProductsOff('/api/ai/chat, /api/tools/pdf')).toEqual({
      ok: true,
      value: new Set(['/api/ai/chat', '/api/tools/pdf']),
    })
  })

  test('refuses everything that is not a path', () => {
    expect(problemsOf(parseProductsOff('chat,/api/ai/chat,/api/tools/pdf=off'))).toEqual([
      'has "chat": write paths such as /api/ai/chat, separated by commas',
      'has "/api/tools/pdf=off": write paths such as /api/ai/chat, separated by commas',
    ])
  })
})

describe('the products on sale', () => {
  const nothingSet = { prices: new Map<string, bigint>(), productsOff: new Set<string>() }

  test('are all definitions at their own prices, in their order, where nothing is set', () => {
    const selected = selectProducts(products, nothingSet)
    assert(selected.ok, 'nothing that is set can be wrong')
    expect(selected.value.map(({ path, priceMicroUsd }) => [path, priceMicroUsd])).toEqual(
      products.map(({ path, priceMicroUsd }) => [path, priceMicroUsd]),
    )
  })

  test('follow the operator in price and number, and keep their order', () => {
    const selected = selectProducts(products, {
      prices: new Map([['/api/data/stock', 1n]]),
      productsOff: new Set(['/api/data/crypto', '/api/ai/chat']),
    })
    assert(selected.ok, 'the paths exist')
    expect(selected.value.map(({ path }) => path)).toEqual(
      products.map(({ path }) => path).filter((path) => path !== '/api/data/crypto' && path !== '/api/ai/chat'),
    )
    expect(selected.value.find(({ path }) => path === '/api/data/stock')).toMatchObject({ priceMicroUsd: 1n })
  })

  test('are refused with every unknown path, and when none is left', () => {
    const selected = selectProducts(products, {
      prices: new Map([['/api/data/cripto', 1n]]),
      productsOff: new Set([...products.map(({ path }) => path), '/api/tools/fax']),
    })
    const known = products.map(({ path }) => path).join(', ')
    expect(selected).toEqual({
      ok: false,
      problems: [
        `PRICES_USD names "/api/data/cripto", which is not a product. The products are ${known}`,
        `PRODUCTS_OFF names "/api/tools/fax", which is not a product. The products are ${known}`,
        'PRODUCTS_OFF leaves nothing to sell. Remove at least one path from it',
      ],
    })
  })
})

describe('the configuration', () => {
  test('without the settings is the specification', () => {
    const { prices, productsOff, split } = readConfig({}).catalog
    expect([prices.size, productsOff.size]).toEqual([0, 0])
    expect(split).toEqual([
      { account: 'burn', perMille: 300 },
      { account: 'provider', perMille: 500 },
      { account: 'holders', perMille: 150 },
      { account: 'treasury', perMille: 50 },
    ])
  })

  test('names the mistakes of all settings together', () => {
    const env = {
      PRICES_USD: '/api/data/crypto=free,x',
      PRODUCTS_OFF: 'chat',
      SPLIT: 'provider:60,burn:30',
      PORT: 'no',
    }
    expect(() => readConfig(env)).toThrow(
      /5 mistakes:\n(?=[\s\S]*PRICES_USD has "\/api\/data\/crypto=free": )(?=[\s\S]*PRICES_USD has "x": )(?=[\s\S]*PRODUCTS_OFF has "chat": )(?=[\s\S]*SPLIT adds up to 90%; )(?=[\s\S]*PORT must be )/,
    )
  })
})
