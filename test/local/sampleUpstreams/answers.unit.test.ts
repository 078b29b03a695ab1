import fc from 'fast-check'
import { parseFeed } from 'feedsmith'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { articleCategories, articlesAt } from '@tollbook/sandbox/sampleUpstreams/articles'
import { coins, figuresOf as coinFigures } from '@tollbook/sandbox/sampleUpstreams/coins'
import { weatherAt } from '@tollbook/sandbox/sampleUpstreams/climate'
import { barsOf, listings, priceAt } from '@tollbook/sandbox/sampleUpstreams/listings'
import type { SampleUpstreams } from '@tollbook/sandbox/sampleUpstreams/sampleUpstreams'
import { fixtureMs, openHeldSamples, originOf } from './heldSamples.ts'

let samples: SampleUpstreams
beforeAll(async () => {
  samples = await openHeldSamples()
})

const hourMs = 60 * 60 * 1000

async function ask(name: string, path: string) {
  const answer = await fetch(`${originOf(samples, name)}${path}`)
  return { status: answer.status, text: await answer.text() }
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
    ['YAHOO', '/v8/finance/chart/ZZZQQ?range=1d', 404, '"code":"Not Found"'],
    [
      'OPEN_METEO_GEOCODING',
      '/v1/search?name=Qwzxv&count=10&language=en&format=json',
      200,
      '{"generationtime_ms":0.4}',
    ],
    ['GDELT', '/api/v2/doc/doc?query=qwzxvqq&mode=artlist&format=json', 200, '{}'],
  ] as const
  test.each(unknown)('%s %s is answered as the provider does', async (name, path, status, text) => {
    const answer = await ask(name, path)
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
  })
})

describe('figures', () => {
  const instants = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2040-01-01') })

  test('of coins and shares are positive at any time, and bars are of weekdays in order', () => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...coins), fc.constantFrom(...listings), (nowMs, coin, listing) => {
        const { price, low, high, changePercent } = coinFigures(coin, nowMs)
        expect(Math.min(price, low)).toBeGreaterThan(0)
        expect(high).toBeGreaterThanOrEqual(low)
        expect(Math.abs(changePercent)).toBeLessThan(60)
        expect(priceAt(listing, nowMs)).toBeGreaterThan(0)
        const days = barsOf(listing, nowMs, 5).map(({ startMs }) => startMs)
        expect(days).toHaveLength(5)
        expect(days).toEqual(days.toSorted((one, other) => one - other))
        expect(days.map((startMs) => new Date(startMs).getUTCDay() % 6)).not.toContain(0)
        expect(nowMs - (days.at(-1) ?? 0)).toBeLessThan(3 * 24 * hourMs)
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
})

describe('articles', () => {
  test('say in their title that they are samples, stand at example.com, and are of the last six hours', () => {
    const articles = articlesAt(fixtureMs)
    expect(articles.length).toBe(articleCategories.length * 3)
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
      expect(items, category).toHaveLength(3)
      for (const item of items ?? []) expect(JSON.stringify(item)).toMatch(/Sample: /)
    }
  })

  test('of GDELT have its spaces around punctuation marks, and its times', async () => {
    const { text } = await ask('GDELT', '/api/v2/doc/doc?query=bitcoin sourcelang:english&mode=artlist&format=json')
    const { articles } = z
      .object({ articles: z.array(z.object({ title: z.string(), seendate: z.string() })) })
      .parse(JSON.parse(text))
    expect(articles).toHaveLength(1)
    expect(articles[0]?.title).toMatch(/^Sample : Bitcoin/)
    expect(articles[0]?.seendate).toMatch(/^20261120T\d{6}Z$/)
  })
})

test('MET Norway forecasts from this hour on, for a week', async () => {
  const { text } = await ask('MET_NORWAY', '/weatherapi/locationforecast/2.0/compact?lat=51.5085&lon=-0.1257')
  const { timeseries } = z
    .object({ properties: z.object({ timeseries: z.array(z.object({ time: z.string() })) }) })
    .parse(JSON.parse(text)).properties
  const times = timeseries.map(({ time }) => Date.parse(time))
  expect(timeseries[0]?.time).toBe('2026-11-20T12:00:00.000Z')
  const steps = times.slice(1).map((timeMs, at) => (timeMs - (times[at] ?? 0)) / hourMs)
  expect([...new Set(steps)]).toEqual([1, 6])
  expect((times.at(-1) ?? 0) - fixtureMs).toBeGreaterThan(7 * 24 * hourMs)
})

test('CoinGecko gives every coin of a symbol', async () => {
  const { text } = await ask('COINGECKO', '/api/v3/coins/markets?vs_currency=usd&symbols=uni&include_tokens=all')
  const found = z.array(z.object({ id: z.string() })).parse(JSON.parse(text))
  expect(found.map(({ id }) => id)).toEqual(['uniswap', 'sample-unicorn'])
})

describe('the chat server', () => {
  const order = {
    model: 'sample-model',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'How much is a burn?' }],
  }
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

  test('refuses a body that is not a request', async () => {
    expect((await chat({ ...order, messages: [] })).status).toBe(400)
  })

  test('streams its reply a word at a time, with the usage at the end', async () => {
    const said = await (await chat({ ...order, stream: true })).text()
    const events = said.trim().split('\n\n')
    expect(events.at(-1)).toBe('data: [DONE]')
    const chunks = events.slice(0, -1).map((event) => chunkJson.parse(JSON.parse(event.slice('data: '.length))))
    const words = chunks.map(({ choices }) => choices[0]?.delta.content ?? '')
    expect(words.join('')).toMatch(/^Sample reply: .*How much is a burn\?$/)
    expect(words.length).toBeGreaterThan(10)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: {} })
  })

  test('reads no more of a body than it needs', async () => {
    await expect(chat({ ...order, padding: 'x'.repeat(300_000) })).rejects.toThrow('fetch failed')
  })
})

test('no sample answers after the samples are closed', async () => {
  const own = await openHeldSamples()
  expect((await fetch(own.pageUrl)).status).toBe(200)
  await own.close()
  await expect(fetch(own.pageUrl)).rejects.toThrow('fetch failed')
})
