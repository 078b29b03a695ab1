import fc from 'fast-check'
import { parseFeed } from 'feedsmith'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { articleCategories, articlesAt } from '@tollbook/sandbox/sampleUpstreams/articles'
import { coins, figuresOf as coinFigures } from '@tollbook/sandbox/sampleUpstreams/coins'
import { weatherAt } from '@tollbook/sandbox/sampleUpstreams/climate'
import { figuresOf as listingFigures, listings } from '@tollbook/sandbox/sampleUpstreams/listings'
import type { SampledProvider, SampleUpstreams } from '@tollbook/sandbox/sampleUpstreams/sampleUpstreams'
import { assertPresent } from '@tollbook/core/assert'
import { fixtureMs, openHeldSamples } from './heldSamples.ts'

let samples: SampleUpstreams
beforeAll(async () => {
  samples = await openHeldSamples()
})

const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
const hourMs = 60 * 60 * 1000

async function ask(name: SampledProvider, path: string, headers: Record<string, string> = browser) {
  const answer = await fetch(`${samples.originOf(name)}${path}`, { headers })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

function chat(body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${samples.chatServer.baseUrl}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
}

describe('what a provider does not know', () => {
  const unknown = [
    ['COINGECKO', '/api/v3/coins/markets?vs_currency=usd&symbols=zzzqq', 200, '[]'],
    ['KRAKEN', '/0/public/Ticker?pair=ZZZQQUSD', 200, '{"error":["EQuery:Unknown asset pair"]}'],
    ['EODHD', '/api/real-time/ZZZQQ.US?api_token=k&fmt=json', 200, '"close":"NA"'],
    ['EODHD', '/api/technical/ZZZQQ.US?function=splitadjusted&api_token=k', 404, 'Ticker Not Found.'],
    ['DEXSCREENER', '/tokens/v1/solana/11111111111111111111111111111111', 200, '[]'],
    ['GDELT', '/api/v2/doc/doc?query=qwzxvqq&mode=artlist&format=json', 200, '{}'],
    ['GUARDIAN', '/search?q=qwzxvqq&api-key=k', 200, '"results":[]'],
  ] as const
  test.each(unknown)('%s %s is answered as the provider does', async (name, path, status, text) => {
    const answer = await ask(name, path)
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
  })
})

describe('what a provider refuses', () => {
  const refused = [
    ['EODHD', '/api/real-time/AAPL.US?fmt=json', 403, 'Unauthenticated'],
    ['TWELVE_DATA', '/quote?symbol=AAPL', 200, '"code":401'],
    ['GUARDIAN', '/search?q=ai', 401, 'Unauthorized'],
    ['GDELT', `/api/v2/doc/doc?query=${'x'.repeat(251)}&mode=artlist&format=json`, 200, 'too short or too long'],
    ['MET_NORWAY', '/weatherapi/locationforecast/2.0/compact?lat=51.50851&lon=-0.1257', 403, 'decimals'],
    ['OPEN_METEO', '/v1/forecast?latitude=91&longitude=0&current=temperature_2m', 400, '"error":true'],
    ['OPEN_METEO', '/v1/forecast?latitude=1&longitude=0&current=mood', 400, 'mood'],
  ] as const
  test.each(refused)('%s %s, from a program without a key', async (name, path, status, text) => {
    const answer = await ask(name, path, { 'user-agent': 'Tollbook/0.2.0' })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
  })
})

describe('figures', () => {
  const instants = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2040-01-01') })

  test('of coins and shares are positive at any time, and a share was traded within four days', () => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...coins), fc.constantFrom(...listings), (nowMs, coin, listing) => {
        const { price, low, high, changePercent } = coinFigures(coin, nowMs)
        expect(Math.min(price, low)).toBeGreaterThan(0)
        expect(high).toBeGreaterThanOrEqual(low)
        expect(Math.abs(changePercent)).toBeLessThan(60)
        const { session, previousClose, change, price: last } = listingFigures(listing, nowMs)
        expect(last - previousClose).toBeCloseTo(change, 2)
        expect(session.lastTradeMs).toBeLessThanOrEqual(nowMs)
        expect(nowMs - session.lastTradeMs).toBeLessThan(4 * 24 * hourMs)
      }),
      { numRuns: 50 },
    )
  })

  test('of the weather are ones that the air can have, at any place and time', () => {
    const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true })
    fc.assert(
      fc.property(instants, degrees(90), degrees(180), (nowMs, latitude, longitude) => {
        const { celsius, humidityPercent, windMetersPerSecond } = weatherAt({ latitude, longitude }, nowMs)
        expect(Math.abs(celsius)).toBeLessThan(60)
        expect(humidityPercent).toBeGreaterThan(0)
        expect(humidityPercent).toBeLessThan(100)
        expect(windMetersPerSecond).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 100 },
    )
  })

  test('drift slowly: within a minute no price moves by more than a hundredth of its swing', () => {
    for (const coin of coins) {
      const [now, later] = [coinFigures(coin, fixtureMs).price, coinFigures(coin, fixtureMs + 60_000).price]
      expect(Math.abs(later / now - 1)).toBeLessThan(coin.swing * 0.01)
    }
  })

  test('of a session are the same while the exchange is closed', () => {
    const [apple] = listings
    const listing = assertPresent(apple, 'there are listings')
    const saturday = Date.parse('2026-11-21T12:00:00Z')
    const [then, later] = [listingFigures(listing, saturday), listingFigures(listing, saturday + 24 * hourMs)]
    expect(later).toEqual(then)
    expect(new Date(then.session.lastTradeMs).toISOString()).toBe('2026-11-20T21:00:00.000Z')
  })
})

describe('articles', () => {
  test('say in their title that they are samples, stand at example.com, and are of the last six hours', () => {
    const articles = articlesAt(fixtureMs)
    expect(articles.length).toBe(articleCategories.length * 4)
    expect(new Set(articles.map(({ url }) => url)).size).toBe(articles.length)
    for (const { title, url, publishedMs } of articles) {
      expect(title).toMatch(/^Sample: /)
      expect(new URL(url).host).toBe('example.com')
      expect(fixtureMs - publishedMs).toBeGreaterThanOrEqual(0)
      expect(fixtureMs - publishedMs).toBeLessThan(6 * hourMs)
    }
  })

  test('come in feeds that a feed reader reads', async () => {
    expect(samples.newsFeeds.map(({ category }) => category).toSorted()).toEqual(articleCategories.toSorted())
    for (const { category, url } of samples.newsFeeds) {
      const { feed } = parseFeed(await (await fetch(url)).text())
      const items = 'items' in feed ? feed.items : []
      expect(items, category).toHaveLength(4)
      for (const item of items ?? []) expect(JSON.stringify(item)).toMatch(/Sample: /)
    }
  })

  test('of GDELT have its spaces around punctuation marks, and its times', async () => {
    const { text } = await ask('GDELT', '/api/v2/doc/doc?query=bitcoin sourcelang:english&mode=ArtList&format=json')
    const { articles } = z
      .object({ articles: z.array(z.object({ title: z.string(), seendate: z.string() })) })
      .parse(JSON.parse(text))
    expect(articles).toHaveLength(1)
    expect(articles[0]?.title).toMatch(/^Sample : Bitcoin/)
    expect(articles[0]?.seendate).toMatch(/^20261120T\d{2}(00|15|30|45)00Z$/)
  })
})

describe('MET Norway', () => {
  const path = '/weatherapi/locationforecast/2.0/compact?lat=51.5085&lon=-0.1257'

  test('answers 304 to a client that has the newest forecast already', async () => {
    const first = await ask('MET_NORWAY', path)
    const lastModified = first.headers.get('last-modified') ?? ''
    expect(Date.parse(first.headers.get('expires') ?? '')).toBeGreaterThan(fixtureMs)
    const again = await ask('MET_NORWAY', path, { ...browser, 'if-modified-since': lastModified })
    expect(again).toMatchObject({ status: 304, text: '' })
  })

  test('forecasts from this hour on, and nothing after the last entry', async () => {
    const { text } = await ask('MET_NORWAY', path)
    const entry = z.object({ time: z.string(), data: z.object({ next_1_hours: z.object({}).optional() }).loose() })
    const { timeseries } = z
      .object({ properties: z.object({ timeseries: z.array(entry) }) })
      .parse(JSON.parse(text)).properties
    expect(timeseries[0]?.time).toBe('2026-11-20T12:00:00Z')
    expect(timeseries.filter(({ data }) => data.next_1_hours === undefined)).toEqual([timeseries.at(-1)])
  })
})

describe('CoinGecko', () => {
  test('gives one coin of a symbol unless all are asked for', async () => {
    const path = '/api/v3/coins/markets?vs_currency=usd&symbols=uni'
    const ids = async (more: string) =>
      z
        .array(z.object({ id: z.string() }))
        .parse(JSON.parse((await ask('COINGECKO', path + more)).text))
        .map(({ id }) => id)
    expect(await ids('')).toEqual(['uniswap'])
    expect(await ids('&include_tokens=all')).toEqual(['uniswap', 'sample-unicorn'])
  })
})

describe('the chat server', () => {
  const order = { model: 'sample-model', messages: [{ role: 'user', content: 'How much is a burn?' }] }
  const replyJson = z.object({
    choices: z.array(z.object({ message: z.object({ content: z.string() }), finish_reason: z.string() })).length(1),
    usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
  })

  const chunkJson = z.looseObject({
    choices: z.array(z.object({ delta: z.object({ content: z.string().optional() }) })),
  })

  test('says that its reply is a sample, and echoes the message', async () => {
    const answer = await chat(order)
    expect(answer.status).toBe(200)
    const { choices, usage } = replyJson.parse(await answer.json())
    expect(choices[0]?.message.content).toMatch(/^Sample reply: .*How much is a burn\?$/)
    expect(choices[0]?.finish_reason).toBe('stop')
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
  })

  test('stops at the limit of tokens, and says so', async () => {
    const { choices, usage } = replyJson.parse(await (await chat({ ...order, max_tokens: 3 })).json())
    expect(choices[0]).toMatchObject({ message: { content: 'Sample reply' }, finish_reason: 'length' })
    expect(usage.completion_tokens).toBe(3)
  })

  test('knows one model, and refuses a body that is not a request', async () => {
    const unknown = await chat({ ...order, model: 'gpt-none' })
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }])
    expect((await chat({ model: 'sample-model', messages: [] })).status).toBe(400)
  })

  test('streams its reply a word at a time, with the usage at the end', async () => {
    const said = await (await chat({ ...order, stream: true, stream_options: { include_usage: true } })).text()
    const events = said.trim().split('\n\n')
    expect(events.at(-1)).toBe('data: [DONE]')
    const chunks = events.slice(0, -1).map((event) => chunkJson.parse(JSON.parse(event.slice('data: '.length))))
    const words = chunks.map(({ choices }) => choices[0]?.delta.content ?? '')
    expect(words.join('')).toMatch(/^Sample reply: .*How much is a burn\?$/)
    expect(words.length).toBeGreaterThan(10)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: {} })
  })

  test('reads no more of a body than it needs', async () => {
    const answer = await chat({ ...order, padding: 'x'.repeat(300_000) })
    expect(answer.status).toBe(413)
  })
})

test('no sample answers after the samples are closed, and a path that cannot be decoded is refused before', async () => {
  const own = await openHeldSamples()
  expect((await fetch(own.pageUrl)).status).toBe(200)
  expect((await fetch(`${own.originOf('EODHD')}/api/real-time/%E0%A4%A`)).status).toBe(400)
  await own.close()
  await expect(fetch(own.pageUrl)).rejects.toThrow('fetch failed')
})
