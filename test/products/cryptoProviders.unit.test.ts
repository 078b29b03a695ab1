import { describe, expect, test } from 'vitest'
import { coinOf } from '../../src/products/crypto/providers/coin.ts'
import { createCoinGecko } from '../../src/products/crypto/providers/coinGecko.ts'
import { createCoinPaprika } from '../../src/products/crypto/providers/coinPaprika.ts'
import type { CryptoQuery } from '../../src/products/crypto/providers/cryptoPrice.ts'
import { createKraken } from '../../src/products/crypto/providers/kraken.ts'
import { type Answering, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import {
  errorBodies,
  kindOf,
  okOf,
  readSample,
  sampleAnswer,
  sampleTimeMs,
  withField,
} from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const query = (symbol: string): CryptoQuery => ({ symbol, coin: coinOf(symbol) })

const setting = { url: server.url, apiKey: undefined }
const fixture = () => openProviderFixture({ COINGECKO: setting, COINPAPRIKA: setting, KRAKEN: setting }, sampleTimeMs)
const coinGecko = () => createCoinGecko(fixture().deps)
const coinPaprika = () => createCoinPaprika(fixture().deps)

describe('CoinGecko', () => {
  test('is read as the sample expects, and asked for all who bear the symbol', async () => {
    server.answer(sampleAnswer('coingecko/markets-btc'))
    const begun = server.asked.length
    const { data, asOfMs, meta } = await coinGecko().ask(query('BTC'))
    expect(data).toEqual(okOf('coingecko/markets-btc'))
    expect(new Date(asOfMs).toISOString()).toBe('2026-11-20T12:49:21.599Z')
    expect(meta).toEqual({ id: 'bitcoin', name: 'Bitcoin', currency: 'USD', change24hPercentValue: -0.95302 })
    const asked = server.asked[begun]
    expect(asked?.url.pathname).toBe('/api/v3/coins/markets')
    expect(Object.fromEntries(asked?.url.searchParams ?? [])).toMatchObject({ vs_currency: 'usd', symbols: 'btc' })
    expect(asked?.headers['x-cg-demo-api-key']).toBeUndefined()
  })

  test('gets a key as a demo key, unless it is asked at its host for paying customers', async () => {
    server.answer(sampleAnswer('coingecko/markets-btc'))
    const begun = server.asked.length
    const { deps } = openProviderFixture({ COINGECKO: { url: server.url, apiKey: 'CG-key' } }, sampleTimeMs)
    await createCoinGecko(deps).ask(query('BTC'))
    expect(server.asked[begun]?.headers['x-cg-demo-api-key']).toBe('CG-key')
    const opened: unknown[] = []
    const openUpstream: typeof deps.openUpstream = (options) => {
      opened.push([options.base.href, options.headers])
      return deps.openUpstream(options)
    }
    const pro = { url: 'https://pro-api.coingecko.com/api/v3', apiKey: 'CG-key' }
    createCoinGecko({ ...deps, openUpstream, upstreams: { COINGECKO: pro } })
    createCoinGecko({ ...deps, openUpstream, upstreams: { COINGECKO: { apiKey: 'CG-key' } } })
    expect(opened).toEqual([
      ['https://pro-api.coingecko.com/api/v3', { 'x-cg-pro-api-key': 'CG-key' }],
      ['https://api.coingecko.com/api/v3', { 'x-cg-demo-api-key': 'CG-key' }],
    ])
  })

  const one = (fields: object) => ({
    id: 'x',
    symbol: 'abc',
    name: 'X',
    current_price: 1,
    market_cap: 5,
    market_cap_rank: 10,
    total_volume: 7,
    price_change_percentage_24h: 1.234,
    last_updated: '2026-11-20T12:49:00Z',
    ...fields,
  })

  test('of several coins the best ranked is taken, then the most traded, and the others are listed', async () => {
    server.answer(
      json([
        one({ id: 'unranked', market_cap_rank: null, total_volume: 9e9 }),
        one({ id: 'twin', market_cap_rank: 30, total_volume: 1 }),
        one({ id: 'busier-twin', market_cap_rank: 30, total_volume: 2 }),
        one({ id: 'second', market_cap_rank: 200 }),
        one({ id: 'stranger', symbol: 'abcd', market_cap_rank: 1 }),
      ]),
    )
    const { meta } = await coinGecko().ask(query('ABC'))
    expect(meta).toMatchObject({ id: 'busier-twin', alternatives: ['twin', 'second', 'unranked'] })
  })

  test.each([
    ['markup', 'X<img src=x onerror=alert(1)>'],
    ['a control character', 'X\u0000'],
    ['a direction that hides its end', 'X\u202Egnp'],
    ['more than a name', 'X'.repeat(65)],
  ])('a name with %s is not repeated: the id stands for it', async (_what, name) => {
    server.answer(json([one({ name })]))
    const { meta, details } = await coinGecko().ask(query('ABC'))
    expect([meta?.['name'], details?.['name']]).toEqual(['x', 'x'])
  })

  test('a name in any script is repeated as it is', async () => {
    server.answer(json([one({ name: 'नमस्ते & Co. ₿ 1.0' })]))
    expect((await coinGecko().ask(query('ABC'))).meta).toMatchObject({ name: 'नमस्ते & Co. ₿ 1.0' })
  })

  test('an id with markup is neither sold nor listed', async () => {
    server.answer(json([one({}), one({ id: '<b>', market_cap_rank: null })]))
    expect(await kindOf(coinGecko().ask(query('ABC')))).toBe('bad_payload')
  })

  test('a coin of our list is taken by its id, even if another coin ranks higher', async () => {
    server.answer(
      json([
        one({ id: 'impostor', symbol: 'uni', market_cap_rank: 1 }),
        one({ id: 'uniswap', symbol: 'uni', market_cap_rank: 40 }),
      ]),
    )
    expect((await coinGecko().ask(query('UNI'))).meta).toMatchObject({ id: 'uniswap', alternatives: ['impostor'] })
    server.answer(json([one({ id: 'impostor', symbol: 'uni', market_cap_rank: 1 })]))
    expect(await kindOf(coinGecko().ask(query('UNI')))).toBe('incomplete')
  })

  test('a malformed item costs a listed coin nothing, and an unlisted symbol its answer: it may be the best ranked', async () => {
    const odd = [null, one({ id: 7, symbol: 'uni' }), one({ id: 'x', symbol: 'uni', current_price: 'much' })]
    server.answer(json([...odd, one({ id: 'uniswap', symbol: 'uni' })]))
    expect((await coinGecko().ask(query('UNI'))).meta).toMatchObject({ id: 'uniswap' })
    server.answer(json([one({ market_cap_rank: {} }), one({ id: 'second', market_cap_rank: 900 })]))
    expect(await kindOf(coinGecko().ask(query('ABC')))).toBe('bad_payload')
  })

  test('a name for the same coin is asked for by the coin and answered by the name', async () => {
    server.answer(sampleAnswer('coingecko/markets-btc'))
    const begun = server.asked.length
    expect((await coinGecko().ask(query('XBT'))).data.symbol).toBe('XBT')
    expect(server.asked[begun]?.url.searchParams.get('symbols')).toBe('btc')
  })

  test('a symbol that is a word of JavaScript is a symbol like any other', async () => {
    server.answer(json([]))
    for (const symbol of ['TOSTRING', 'CONSTRUCTOR', '__PROTO__', 'HASOWNPROPERTY'])
      expect(await kindOf(coinGecko().ask(query(symbol)))).toBe('not_found')
    expect(coinOf('toString')).toBeUndefined()
    expect(coinOf('constructor')).toBeUndefined()
  })

  test.each<[string, Answering, string]>([
    ['an unknown symbol', sampleAnswer('coingecko/markets-unknown'), 'not_found'],
    ['only coins without a rank', json([one({ market_cap_rank: null })]), 'not_found'],
    ['the limit', sampleAnswer('coingecko/rate-limited-429'), 'rate_limited'],
    ['the limit under 200', json(readSample('coingecko/rate-limited-429').response.body), 'rate_limited'],
    ['no key', json({ status: { error_code: 10_002, error_message: 'x' } }, { status: 401 }), 'auth'],
    ['a plan', json({ status: { error_code: 10_005 } }, { status: 403 }), 'auth'],
    ['a key for the other host', json({ status: { error_code: 10_011 } }, { status: 400 }), 'auth'],
    ['a block', json({ status: { error_code: 1_020 } }, { status: 403 }), 'blocked'],
    ...errorBodies,
  ])('%s is a failure of its own kind', async (_what, answering, kind) => {
    server.answer(answering)
    expect(await kindOf(coinGecko().ask(query('ABC')))).toBe(kind)
  })

  test.each<[string, unknown]>([
    ['current_price', null],
    ['current_price', 0],
    ['current_price', -1],
    ['current_price', undefined],
    ['price_change_percentage_24h', null],
    ['price_change_percentage_24h', -100],
    ['total_volume', 0],
    ['total_volume', null],
    ['market_cap', 0],
    ['market_cap', null],
    ['last_updated', null],
    ['last_updated', 'yesterday'],
    ['last_updated', '2026-11-20T12:48:35.123'],
    ['last_updated', '1795178915'],
  ])('%s: %j is not a price', async (field, value) => {
    server.answer(sampleAnswer('coingecko/markets-btc', withField([0, field], value)))
    expect(await kindOf(coinGecko().ask(query('BTC')))).toBe('incomplete')
  })

  test.each([
    ['current_price', '77671'],
    ['market_cap', {}],
    ['id', 7],
  ])('%s: %j is not read', async (field, value) => {
    server.answer(sampleAnswer('coingecko/markets-btc', withField([0, field], value)))
    expect(await kindOf(coinGecko().ask(query('BTC')))).toBe('bad_payload')
  })

  test.each([
    [-0.001, '+0.00%'],
    [0, '+0.00%'],
    [-0.005, '-0.01%'],
    [12.345, '+12.35%'],
    [1e-9, '+0.00%'],
    [1_234.5, '+1234.50%'],
  ])('a change of %d is returned as %s', async (change, reported) => {
    const amount = withField([0, 'price_change_24h'], null)
    const percentage = withField([0, 'price_change_percentage_24h'], change)
    server.answer(sampleAnswer('coingecko/markets-btc', (body) => amount(percentage(body))))
    expect((await coinGecko().ask(query('BTC'))).data.change24h).toBe(reported)
  })
})

describe('CoinPaprika', () => {
  test('is read as the sample expects', async () => {
    server.answer(sampleAnswer('coinpaprika/ticker-btc'))
    const begun = server.asked.length
    const { data, asOfMs } = await coinPaprika().ask(query('BTC'))
    expect(data).toEqual(okOf('coinpaprika/ticker-btc'))
    expect(new Date(asOfMs).toISOString()).toBe('2026-11-20T12:47:48.000Z')
    expect(server.asked.slice(begun).map(({ url }) => url.pathname + url.search)).toEqual([
      '/v1/tickers/btc-bitcoin?quotes=USD',
    ])
  })

  test('with a key is asked where keys are taken', async () => {
    server.answer(sampleAnswer('coinpaprika/ticker-btc'))
    const begun = server.asked.length
    const { deps } = openProviderFixture({ COINPAPRIKA: { url: server.url, apiKey: 'CP-key' } }, sampleTimeMs)
    await createCoinPaprika(deps).ask(query('BTC'))
    expect(server.asked[begun]?.headers.authorization).toBe('CP-key')
  })

  // Another token of the same symbol, ranked and active: the only candidate that a search by symbol would find.
  const namesake = (symbol: string): Answering => {
    const currencies = [{ id: 'x-namesake', symbol, name: 'Namesake', rank: 10, is_active: true }]
    const ticker = sampleAnswer('coinpaprika/ticker-btc', (body) =>
      withField(['id'], 'x-namesake')(withField(['symbol'], symbol)(body)),
    )
    return (response, asked) => (asked.url.pathname === '/v1/search' ? json({ currencies }) : ticker)(response, asked)
  }

  test.each(['TRUMP', 'ABC'])('is not asked for %s, whose coin it cannot identify by id', async (symbol) => {
    server.answer(namesake(symbol))
    const begun = server.asked.length
    expect(coinPaprika().covers?.(query(symbol))).toBe(false)
    expect(await kindOf(coinPaprika().ask(query(symbol)))).toBe('not_covered')
    expect(server.asked.length).toBe(begun)
  })

  test.each<[string, Answering, string]>([
    ['is gone', sampleAnswer('coinpaprika/not-found-404'), 'not_covered'],
    [
      'was given to another symbol',
      sampleAnswer('coinpaprika/ticker-btc', withField(['symbol'], 'SCAM')),
      'not_covered',
    ],
    ['is answered with another id', sampleAnswer('coinpaprika/ticker-btc', withField(['id'], 'btc-x')), 'bad_payload'],
  ])('sells no other coin when the id of our list %s', async (_what, answering, kind) => {
    server.answer((response, asked) =>
      (asked.url.pathname === '/v1/search' ? namesake('BTC') : answering)(response, asked),
    )
    expect(await kindOf(coinPaprika().ask(query('BTC')))).toBe(kind)
  })

  test.each<[string, Answering, string]>([
    ['the end of the quota', json({ error: 'quota' }, { status: 402 }), 'auth'],
    ['a bad key', json({ error: 'key' }, { status: 403 }), 'auth'],
    ...errorBodies,
  ])('%s is a failure of its own kind', async (_what, answering, kind) => {
    server.answer(answering)
    expect(await kindOf(coinPaprika().ask(query('BTC')))).toBe(kind)
  })

  test.each(['price', 'volume_24h', 'market_cap', 'percent_change_24h'])('%s: null is not a price', async (field) => {
    server.answer(sampleAnswer('coinpaprika/ticker-btc', withField(['quotes', 'USD', field], null)))
    expect(await kindOf(coinPaprika().ask(query('BTC')))).toBe('incomplete')
  })
})

describe('Kraken', () => {
  const kraken = () => createKraken(fixture().deps)

  test('says what was last paid, under whatever name it returns the pair', async () => {
    server.answer(sampleAnswer('kraken/ticker-xbtusd'))
    const begun = server.asked.length
    expect(await kraken().ask(query('BTC'))).toMatchObject({ figures: { price: 77_671 } })
    expect(server.asked[begun]?.url.href).toMatch(/\/0\/public\/Ticker\?pair=XBTUSD$/)
    expect(kraken().covers(query('LEO'))).toBe(false)
    expect(await kindOf(kraken().ask(query('LEO')))).toBe('not_covered')
  })

  test.each<[string, Answering, string]>([
    ['an unknown pair', json({ error: ['EQuery:Unknown asset pair'] }), 'not_found'],
    ['the limit', json({ error: ['EGeneral:Too many requests'] }), 'rate_limited'],
    ['the limit in other words', json({ error: ['EAPI:Rate limit exceeded'] }), 'rate_limited'],
    ['maintenance', json({ error: ['EService:Unavailable'] }), 'upstream'],
    ['two pairs', json({ error: [], result: { A: { c: ['1'] }, B: { c: ['2'] } } }), 'bad_payload'],
    ['no pair', json({ error: [], result: {} }), 'bad_payload'],
    ['another pair', json({ error: [], result: { XETHZUSD: { c: ['77671.0'] } } }), 'bad_payload'],
    ['zero', json({ error: [], result: { XXBTZUSD: { c: ['0.0'] } } }), 'incomplete'],
    ['no number', json({ error: [], result: { XXBTZUSD: { c: ['NaN'] } } }), 'incomplete'],
    ['a page', text('<html>'), 'bad_payload'],
  ])('%s is not a price', async (_what, answering, kind) => {
    server.answer(answering)
    expect(await kindOf(kraken().ask(query('BTC')))).toBe(kind)
  })
})
