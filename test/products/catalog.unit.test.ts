import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { onlyData, products, sourcedProducts } from '../support/builtinProducts.ts'
import { news } from '../../src/products/news/news.ts'
import { createNewsSources } from '../../src/products/news/newsSources.ts'
import { requestOf } from '../../src/product/productFacts.ts'
import { displayUsd } from '../../src/pricing/priceList.ts'
import { upstreamNames, type UpstreamConfigs } from '../../src/product/providerTerms.ts'
import { openProviderFixture } from '../support/providerFixture.ts'

/** Section 4 of the specification, written down a second time: a definition cannot change it unnoticed. */
const specified: readonly (readonly [method: string, path: string, priceUsd: number])[] = [
  ['GET', '/api/data/crypto', 0.02],
  ['GET', '/api/data/weather', 0.01],
  ['GET', '/api/data/stock', 0.02],
  ['GET', '/api/data/news', 0.025],
  ['POST', '/api/tools/qrcode', 0.005],
  ['POST', '/api/tools/screenshot', 0.05],
  ['POST', '/api/tools/pdf', 0.08],
  ['POST', '/api/ai/chat', 0.05],
]
const bodyLimits: Readonly<Record<string, number>> = { '/api/tools/pdf': 640 * 1024 }

describe('the products', () => {
  test('are those of the specification, at its prices', () => {
    const paths = new Set(specified.map(([, path]) => path))
    const ofSpecification = products.filter(({ path }) => paths.has(path))
    expect(ofSpecification.map((product) => [product.method, product.path, displayUsd(product)])).toEqual(specified)
    for (const { path, bodyBytesMax } of products) expect(bodyBytesMax, path).toBe(bodyLimits[path] ?? 64 * 1024)
  })

  const others = [null, true, 5, 1.5, '', 'x', [], {}, [5], [[]], [{}], [{ role: 5 }], ['', ''], Array(200).fill('x')]
  test.each(products.map((product) => [product.path, product] as const))(
    'of %s say in their own words what is wrong with a value of any other type',
    (_, { parameters, demo }) => {
      const { properties = {} } = z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' })
      const names = Object.keys(properties)
      expect(names.length).toBeGreaterThan(0)
      for (const name of names) {
        for (const other of others) {
          const { error } = parameters.safeParse({ ...demo.order({ pageUrl: 'https://example.com/' }), [name]: other })
          const foreign = error?.issues.filter(({ message }) => /received|Too |Invalid/.test(message)) ?? []
          expect(foreign.filter(({ path }) => path.length > 0)).toEqual([])
        }
      }
    },
  )

  test('use every provider but the markets of the token price, and at most three each', () => {
    const used = new Set(products.flatMap(({ providers }) => providers))
    const unused = upstreamNames.filter((name) => !used.has(name))
    expect(unused).toEqual(['JUPITER', 'DEXSCREENER', 'GECKOTERMINAL'])
    for (const { path, providers } of products) expect(providers.length, path).toBeLessThanOrEqual(3)
  })

  test('ask exactly the providers that they name', async () => {
    const asked = new Set<string>()
    const keyed: UpstreamConfigs = { EODHD: { apiKey: 'key' }, GUARDIAN: { apiKey: 'key' } }
    const upstreams = new Proxy(keyed, {
      get(settings, name, self): unknown {
        asked.add(String(name))
        return Reflect.get(settings, name, self)
      },
    })
    const { deps } = openProviderFixture(upstreams)
    const readFeed = () => Promise.resolve({ kind: 'unchanged' as const })
    const feedPool = { articlesOf: () => Promise.resolve([]) }
    const openings = [
      ...sourcedProducts.map((product) => [product, () => product.open(onlyData(deps))] as const),
      [news, () => createNewsSources({ ...deps, newsFeeds: [], readFeed, feedPool })],
    ] as const
    for (const [{ path, providers }, open] of openings) {
      asked.clear()
      await open()
      expect([...asked].sort(), path).toEqual(providers.filter((name) => name !== 'NEWS_FEEDS').toSorted())
    }
  })

  describe.each(products.map((product) => [product.path, product] as const))('%s', (_path, product) => {
    const stage = { pageUrl: 'https://example.com/' }

    // A query carries texts only.
    const sent = (order: Readonly<Record<string, unknown>>) =>
      product.method === 'POST'
        ? order
        : Object.fromEntries(new URL(requestOf(product, product.example.order).target, 'http://localhost').searchParams)

    test('accepts its example and its demo order', () => {
      expect(product.parameters.safeParse(sent(product.example.order)).error?.issues ?? []).toEqual([])
      expect(product.parameters.safeParse(sent(product.demo.order(stage))).error?.issues ?? []).toEqual([])
    })

    test('shows an example answer of its own shape', () => {
      expect(product.answer.safeParse(product.example.answer).error?.issues ?? []).toEqual([])
    })

    test('has no single quote in its example, which is pasted into a shell', () => {
      expect(JSON.stringify(product.example)).not.toContain("'")
    })
  })
})
