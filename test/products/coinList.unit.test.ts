import { expect, test } from 'vitest'
import { crypto } from '../../src/products/crypto/crypto.ts'
import { listedCoins } from '../../src/products/crypto/providers/coin.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { type Answering, json, startLoopbackProvider } from '../support/loopbackProvider.ts'
import { orderOf } from '../support/priceStage.ts'
import { openProviderFixture } from '../support/providerFixture.ts'

const server = await startLoopbackProvider()
const ofList = (asked: { readonly url: URL }) => asked.url.pathname.endsWith('/coins/list')
const whole = [
  ...listedCoins().map(({ coingecko: id, symbol }) => ({ id, symbol: symbol.toLowerCase(), name: id })),
  { id: 'zed-coin', symbol: 'zed', name: 'Zed' },
  { id: 'broken', symbol: null },
]

function open(list: Answering) {
  const begun = server.asked.filter(ofList).length
  server.answer((response, asked) => (ofList(asked) ? list(response, asked) : json([])(response, asked)))
  const { deps, clock } = openProviderFixture({ COINGECKO: { url: `${server.url}/api/v3`, apiKey: undefined } })
  const endpoint = openEndpoint(crypto, { ...deps, isProbed: true })
  const whyNoData = (order: Readonly<Record<string, string>>) => orderOf(endpoint, order).whyNoData()
  const lists = () => server.asked.filter(ofList).length - begun
  return { whyNoData, clock, lists }
}

test('a coin that the list of CoinGecko lacks is refused before a payment, by symbol, by id and in a list', async () => {
  const { whyNoData, lists } = open(json(whole))
  await awaitThat('the list is here', () => whyNoData({ symbol: 'NOSUCHCOIN' }) !== undefined)
  expect(whyNoData({ symbol: 'NOSUCHCOIN' })).toMatch(/NOSUCHCOIN/)
  expect(whyNoData({ coinId: 'no-such-coin' })).toMatch(/no-such-coin/)
  expect(whyNoData({ symbol: 'BTC', more: 'ZED,NOSUCHCOIN' })).toMatch(/NOSUCHCOIN/)
  for (const order of [{ symbol: 'zed' }, { coinId: 'zed-coin' }, { symbol: 'XBT' }, { symbol: 'BTC', more: 'ZED' }])
    expect(whyNoData(order)).toBe(undefined)
  expect(lists()).toBe(1)
})

test('a list that lacks half of the coins that exist refuses none', async () => {
  const part = (share: number) => whole.slice(0, listedCoins().length * share)
  const { whyNoData, lists } = open(json(part(0.4)))
  await awaitThat('the list was asked for', () => lists() === 1)
  expect(whyNoData({ symbol: 'NOSUCHCOIN' })).toBe(undefined)
  const more = open(json(part(0.6)))
  await awaitThat('the list is here', () => more.whyNoData({ symbol: 'NOSUCHCOIN' }) !== undefined)
})

test('the list is read again after some hours, and an old one refuses none', async () => {
  let list: Answering = json(whole)
  const { whyNoData, clock, lists } = open((response, asked) => list(response, asked))
  await awaitThat('the list is here', () => whyNoData({ symbol: 'NEWCOIN' }) !== undefined)
  list = json({}, { status: 500 })
  clock.forward(25 * 3_600_000)
  expect(whyNoData({ symbol: 'NEWCOIN' })).toBe(undefined)
  await awaitThat('it was asked for again', () => lists() === 2)
  list = json([...whole, { id: 'new-coin', symbol: 'newcoin', name: 'New' }])
  clock.forward(3_600_000)
  await awaitThat('the new list is here', () => whyNoData({ symbol: 'NOSUCHCOIN' }) !== undefined)
  expect(whyNoData({ symbol: 'NEWCOIN' })).toBe(undefined)
})
